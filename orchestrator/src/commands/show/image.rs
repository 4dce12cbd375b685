//! `phalanx show RUN image`: the next image of a sensor, drawn on a terminal, else as a PNG file;
//! or all of them, one in the place of the other.

use std::io::IsTerminal;
use std::time::Duration;

use client::Connection;
use client::raster::Raster;
use client::sensor_image::{self, ImageError};
use images::Compression;
use mesh::Image as Picture;
use messages::sensor::Image;
use protocol::primary_to_client::Reply;
use protocol::report::TopicReport;
use protocol::{Command, ExitCode, TopicMessage};
use tokio::time::timeout;
use view::graphics::{Abilities, Colors, Drawn, Graphics, Room, detect};

use super::refused;
use crate::cli::{GraphicsName, ShowArguments};
use crate::commands::ctl::from_ask;
use crate::commands::target::Target;
use crate::commands::topic::{listen, next_message};
use crate::commands::{CommandResult, Failed, output, runtime};

/// The kind of messages with images.
const KIND: &str = "gz.msgs.Image";

/// Time for which a terminal is waited for that is asked what it can draw: nearly all answer, some
/// from far away.
const DETECT_TIME: Duration = Duration::from_secs(3);
/// Columns and rows where there is no terminal that says how many it has.
const NO_TERMINAL: (u16, u16) = (80, 24);

/// Drawing as text, in a room.
struct Drawing {
    way: Graphics,
    room: Room,
    is_terminal: bool,
    last: Option<Drawn>,
}

impl Drawing {
    /// Returns how images are drawn; none if they are files.
    fn of(arguments: &ShowArguments) -> Option<Self> {
        let is_terminal = std::io::stdout().is_terminal();
        let name = arguments.image.graphics;
        let name = name.or(is_terminal.then_some(GraphicsName::Auto))?;
        let colors = Colors::from_environment(|name| std::env::var(name).ok());
        // A terminal is asked for the size of its cells whatever is drawn.
        let abilities = match (name, is_terminal) {
            (GraphicsName::Blocks, _) | (_, false) => Abilities::default(),
            (GraphicsName::Auto | GraphicsName::Sixel | GraphicsName::Kitty, true) => {
                detect(DETECT_TIME)
            }
        };
        let (columns, rows) = view::terminal::size()
            .filter(|_| is_terminal)
            .unwrap_or(NO_TERMINAL);
        let columns = arguments.width.unwrap_or(columns);
        // One row of the room is for the prompt.
        let rows = arguments.height.map_or(rows, |rows| rows.saturating_add(1));
        Some(Self {
            way: match name {
                GraphicsName::Auto => Graphics::best(abilities, colors),
                GraphicsName::Blocks => Graphics::Blocks(colors),
                GraphicsName::Sixel => Graphics::Sixel,
                GraphicsName::Kitty => Graphics::Kitty,
            },
            room: Room::new(columns.into(), rows.into(), abilities.cell),
            is_terminal,
            last: None,
        })
    }

    /// Draws an image, in the place of the last one; returns false if nobody looks any more.
    fn draw(&mut self, picture: &Picture) -> Result<bool, Failed> {
        let opaque = |[red, green, blue, _]: &[u8; 4]| [*red, *green, *blue];
        let pixels = picture.pixels.iter().map(opaque).collect();
        let raster = Raster::new(picture.width, picture.height, pixels);
        let raster = raster
            .ok_or(ImageError::Bytes(images::TooFewBytes))
            .map_err(anyhow::Error::new)?;
        let drawn = self.way.draw(&raster, self.room);
        let text = if self.is_terminal {
            drawn.placed(self.last.as_ref())
        } else {
            drawn.plain()
        };
        self.last = Some(drawn);
        output::draw(&text)
    }
}

/// Waits for the next image of a topic, and shows it; with `--follow`, goes on with those after it.
pub(super) fn show(target: &Target, arguments: &ShowArguments) -> CommandResult {
    let limit = arguments.timeout;
    let mut drawing = Drawing::of(arguments);
    if arguments.follow && drawing.is_none() {
        let message = "--follow draws on a terminal: leave stdout to one, or say how by \
                       --graphics; `phalanx topic echo` prints messages as they come";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let shown = async {
        let topic = match &arguments.image.topic {
            Some(topic) => topic.clone(),
            None => only_topic(target, limit).await?,
        };
        let mut connection = listen(target, &topic)?;
        let next = timeout(limit, next_message(&mut connection, target)).await;
        let next = next.map_err(|_| {
            let message = format!(
                "there was no image on {topic} in {} s; --timeout waits longer, and a run that \
                 is paused makes none",
                limit.as_secs_f64()
            );
            Failed::message(ExitCode::Failure, message)
        })?;
        let Some(message) = next? else {
            let message = "the run ended before an image came";
            return Err(Failed::message(ExitCode::Failure, message));
        };
        let Some(drawing) = &mut drawing else {
            return output::print_bytes(&file(&message, &topic)?);
        };
        let mut is_seen = drawing.draw(&pixels(&message)?)?;
        while arguments.follow && is_seen {
            let Some(message) = newest(&mut connection, target).await? else {
                break;
            };
            is_seen = drawing.draw(&pixels(&message)?)?;
        }
        Ok(ExitCode::Success)
    };
    runtime()?.block_on(shown)
}

/// Waits for a message, and returns the last one that came meanwhile: a terminal that is slow to
/// draw shows fewer images, not old ones. None when the run has ended.
async fn newest(
    connection: &mut Connection,
    target: &Target,
) -> Result<Option<Box<TopicMessage>>, Failed> {
    let mut message = next_message(connection, target).await?;
    while message.is_some()
        && let Ok(newer) = timeout(Duration::ZERO, next_message(connection, target)).await
    {
        message = newer?;
    }
    Ok(message)
}

/// Returns the topic of the only sensor with images.
async fn only_topic(target: &Target, limit: Duration) -> Result<String, Failed> {
    let reply = target.ask(Command::Topics, limit).await;
    let topics = match reply.map_err(from_ask)? {
        Reply::Topics(topics) => topics,
        other => return Err(refused(other)),
    };
    let is_image = |topic: &&TopicReport| topic.kind == KIND && !topic.publishers.is_empty();
    let images: Vec<&str> = topics
        .iter()
        .filter(is_image)
        .map(|topic| topic.topic.as_str())
        .collect();
    match images.as_slice() {
        [topic] => Ok((*topic).to_owned()),
        [] => Err(Failed::message(
            ExitCode::Failure,
            "no sensor of the run publishes images",
        )),
        _ => Err(Failed::message(
            ExitCode::Usage,
            format!("say one of these with --topic:\n  {}", images.join("\n  ")),
        )),
    }
}

/// Returns the image in a message as a file: PNG of what is seen, or the image as it is compressed
/// on the topic that was asked for.
fn file(message: &TopicMessage, topic: &str) -> Result<Vec<u8>, Failed> {
    if message.topic == topic {
        return Ok(pixels(message)?.to_png());
    }
    let image = image(message)?;
    let form = Compression::Jpeg(images::QUALITY_DEFAULT);
    let compressed = images::compress(&image, form).map_err(anyhow::Error::new)?;
    Ok(compressed.data.into_vec())
}

/// Returns the pixels of the image in a message.
fn pixels(message: &TopicMessage) -> Result<Picture, Failed> {
    let pixels = sensor_image::pixels(&image(message)?).map_err(anyhow::Error::new)?;
    Ok(Picture {
        width: pixels.width,
        height: pixels.height,
        pixels: pixels.pixels,
    })
}

fn image(message: &TopicMessage) -> Result<Image, Failed> {
    if message.kind != KIND {
        let text = format!(
            "{} has messages of the type {}",
            message.topic, message.kind
        );
        return Err(Failed::message(ExitCode::Usage, text));
    }
    Ok(messages::decode(&message.body).map_err(anyhow::Error::new)?)
}
