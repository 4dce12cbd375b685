//! Writes a picture of the view for the README: `screenshot OUT.png FONT.ttf PHALANX KEYS...`.
//!
//! `PHALANX` is run in a real pseudo-terminal with the fleet world, `KEYS` are pressed one argument
//! a second, and what the terminal then shows is painted: text by the font, lines, blocks and
//! Braille by hand, since few fonts draw those from edge to edge.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ab_glyph::{Font, FontVec, PxScale, ScaleFont, point};
use tests::screen::Screen;

/// Rows and columns of the terminal.
const SIZE: (u16, u16) = (40, 132);
/// Width and height of a cell \[px\].
const CELL: (u32, u32) = (10, 21);
/// Room around the text \[px\].
const MARGIN: u32 = 12;
/// Height of the letters \[px\].
const LETTERS: f32 = 17.0;
/// Time for which the run goes on before the first key, and between keys.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of robots that drive.
const ROBOTS: u32 = 24;

const BACKGROUND: [u8; 3] = [0x14, 0x17, 0x1c];
const FOREGROUND: [u8; 3] = [0xd3, 0xd7, 0xcf];
/// The 16 colours of the terminal.
const PALETTE: [[u8; 3]; 16] = [
    [0x2e, 0x34, 0x36],
    [0xcc, 0x33, 0x33],
    [0x6c, 0xb0, 0x3a],
    [0xc4, 0xa0, 0x00],
    [0x4a, 0x7f, 0xc1],
    [0xa3, 0x6f, 0xb3],
    [0x2b, 0xa8, 0xb5],
    [0xd3, 0xd7, 0xcf],
    [0x7a, 0x80, 0x85],
    [0xef, 0x4a, 0x4a],
    [0x8a, 0xe2, 0x34],
    [0xfc, 0xe9, 0x4f],
    [0x72, 0x9f, 0xcf],
    [0xc8, 0x8f, 0xc4],
    [0x34, 0xd0, 0xde],
    [0xee, 0xee, 0xec],
];

/// A picture, row by row, three bytes a pixel.
struct Picture {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

/// A part of a cell that is filled, in eighths of its width and height: left, top, right, bottom.
type Part = [u32; 4];

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut argument = |what: &str| words.next().ok_or_else(|| format!("{what} is missing"));
    let out = argument("the picture to be written")?;
    let font = FontVec::try_from_vec(std::fs::read(argument("a monospaced font")?)?)?;
    let program = argument("the program phalanx")?;
    let folder = tempfile::tempdir()?;
    let world = folder.path().join("fleet.sdf");
    let robots = ROBOTS.to_string();
    let fleet = ["generate", "fleet", "--robots", &robots, "--levels", "4x2"];
    std::fs::write(&world, Command::new(&program).args(fleet).output()?.stdout)?;
    let mut command = portable_pty::CommandBuilder::new(&program);
    command.args(["run", "--secondaries", "3", "--name", "fleet"]);
    command.arg("--commands");
    command.arg(script(folder.path())?);
    command.arg(&world);
    command.env("TERM", "xterm-256color");
    command.env("LANG", "C.UTF-8");
    command.env("PHALANX_RUNTIME_DIR", folder.path());
    command.env("PHALANX_CONFIG", "/dev/null");
    let mut screen = Screen::start(command, SIZE.0, SIZE.1);
    screen.wait_for("RUNNING");
    for keys in words {
        std::thread::sleep(PAUSE);
        screen.press(&keys);
    }
    std::thread::sleep(PAUSE);
    screen.wait_for("RUNNING");
    let picture = paint(screen.terminal(), &font);
    screen.press("Sy");
    picture.write(&out)
}

/// Writes where each robot is to go, and returns the file.
fn script(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let line = |robot: u32| {
        let [x, z] = [
            1.0 + 0.1 * f64::from(robot % 7),
            0.1 * (f64::from(robot % 5) - 2.0),
        ];
        format!(
            "{{\"iteration\": 0, \"topic\": \"/model/robot_{robot:04}/cmd_vel\", \
             \"type\": \"gz.msgs.Twist\", \
             \"message\": {{\"linear\": {{\"x\": {x}}}, \"angular\": {{\"z\": {z}}}}}}}\n"
        )
    };
    let file = folder.join("script.jsonl");
    std::fs::write(&file, (1..=ROBOTS).map(line).collect::<String>())?;
    Ok(file)
}

fn paint(screen: &vt100::Screen, font: &FontVec) -> Picture {
    let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
    let mut picture = Picture::new(
        u32::from(columns) * CELL.0 + 2 * MARGIN,
        u32::from(rows) * CELL.1 + 2 * MARGIN,
    );
    for row in 0..rows {
        for column in 0..columns {
            if let Some(cell) = screen.cell(row, column) {
                let x = MARGIN + u32::from(column) * CELL.0;
                let y = MARGIN + u32::from(row) * CELL.1;
                paint_cell(&mut picture, (x, y), cell, font);
            }
        }
    }
    picture
}

fn paint_cell(picture: &mut Picture, at: (u32, u32), cell: &vt100::Cell, font: &FontVec) {
    let mut ink = color(cell.fgcolor(), FOREGROUND);
    let mut paper = color(cell.bgcolor(), BACKGROUND);
    if cell.dim() {
        ink = mix(ink, paper, 0.45);
    }
    if cell.inverse() {
        std::mem::swap(&mut ink, &mut paper);
    }
    picture.fill(at, [0, 0, 8, 8], paper);
    if cell.underline() {
        let line = (at.0, at.1 + CELL.1 - 2);
        picture.rectangle(line, (CELL.0, 1), ink);
    }
    for c in cell.contents().chars() {
        match parts(c) {
            Some(parts) => {
                for part in parts {
                    picture.fill(at, part, ink);
                }
            }
            None if ('\u{2800}'..='\u{28ff}').contains(&c) => paint_braille(picture, at, c, ink),
            None if ('░'..='▓').contains(&c) => paint_shade(picture, at, c, ink),
            None => paint_letter(picture, at, (c, cell.bold()), font, ink),
        }
    }
}

fn paint_braille(picture: &mut Picture, at: (u32, u32), c: char, ink: [u8; 3]) {
    let dots = c as u32 - 0x2800;
    let places = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
        (0, 3),
        (1, 3),
    ];
    for (bit, (column, row)) in places.into_iter().enumerate() {
        if dots >> bit & 1 == 1 {
            let x = at.0 + 2 + column * CELL.0 / 2;
            let y = at.1 + 2 + row * CELL.1 / 4;
            picture.rectangle((x, y), (2, 2), ink);
        }
    }
}

fn paint_shade(picture: &mut Picture, at: (u32, u32), c: char, ink: [u8; 3]) {
    let part = 0.25 * (c as u32 - '░' as u32 + 1) as f32;
    for y in at.1..at.1 + CELL.1 {
        for x in at.0..at.0 + CELL.0 {
            picture.blend((x, y), ink, part);
        }
    }
}

fn paint_letter(
    picture: &mut Picture,
    at: (u32, u32),
    (c, is_bold): (char, bool),
    font: &FontVec,
    ink: [u8; 3],
) {
    let scaled = font.as_scaled(PxScale::from(LETTERS));
    let id = font.glyph_id(c);
    let baseline = at.1 as f32 + (CELL.1 as f32 - scaled.height()) / 2.0 + scaled.ascent();
    for shift in 0..=u32::from(is_bold) {
        let left = at.0 as f32 + 0.4 * shift as f32;
        let glyph = id.with_scale_and_position(PxScale::from(LETTERS), point(left, baseline));
        let Some(outline) = font.outline_glyph(glyph) else {
            return;
        };
        let corner = outline.px_bounds().min;
        outline.draw(|x, y, part| {
            let (x, y) = (corner.x + x as f32, corner.y + y as f32);
            if x >= 0.0 && y >= 0.0 {
                picture.blend((x as u32, y as u32), ink, part.min(1.0));
            }
        });
    }
}

/// Returns the filled parts of a cell of a line or block, if the character is one.
fn parts(c: char) -> Option<Vec<Part>> {
    // Lines are an eighth of a cell thick, thick ones a quarter.
    let (left, right) = ([0, 4, 5, 5], [4, 4, 8, 5]);
    let (up, down) = ([4, 0, 5, 5], [4, 4, 5, 8]);
    let [thick_left, thick_right] = [[0, 4, 5, 6], [4, 4, 8, 6]];
    let [thick_up, thick_down] = [[3, 0, 5, 6], [3, 4, 5, 8]];
    Some(match c {
        ' ' => Vec::new(),
        '─' => vec![left, right],
        '│' => vec![up, down],
        '┌' => vec![right, down],
        '┐' => vec![left, down],
        '└' => vec![right, up],
        '┘' => vec![left, up],
        '├' => vec![up, down, right],
        '┤' => vec![up, down, left],
        '┬' => vec![left, right, down],
        '┴' => vec![left, right, up],
        '┼' => vec![left, right, up, down],
        '━' => vec![thick_left, thick_right],
        '┃' => vec![thick_up, thick_down],
        '┏' => vec![thick_right, thick_down],
        '┓' => vec![thick_left, thick_down],
        '┗' => vec![thick_right, thick_up],
        '┛' => vec![thick_left, thick_up],
        '▀' => vec![[0, 0, 8, 4]],
        '▁'..='█' => vec![[0, 8 - (c as u32 - 0x2580), 8, 8]],
        '▉'..='▏' => vec![[0, 0, 0x2590 - c as u32, 8]],
        '▐' => vec![[4, 0, 8, 8]],
        _ => return None,
    })
}

fn color(color: vt100::Color, default: [u8; 3]) -> [u8; 3] {
    match color {
        vt100::Color::Default => default,
        vt100::Color::Rgb(red, green, blue) => [red, green, blue],
        vt100::Color::Idx(index @ 0..16) => PALETTE[usize::from(index)],
        vt100::Color::Idx(index @ 16..232) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let index = index - 16;
            [level(index / 36), level(index / 6 % 6), level(index % 6)]
        }
        vt100::Color::Idx(index) => [8 + 10 * (index - 232); 3],
    }
}

fn mix(ink: [u8; 3], paper: [u8; 3], part: f32) -> [u8; 3] {
    std::array::from_fn(|index| {
        let (ink, paper) = (f32::from(ink[index]), f32::from(paper[index]));
        (ink + (paper - ink) * part) as u8
    })
}

impl Picture {
    fn new(width: u32, height: u32) -> Self {
        let bytes = BACKGROUND.repeat((width * height) as usize);
        Self {
            width,
            height,
            bytes,
        }
    }

    /// Fills a part of a cell.
    fn fill(&mut self, at: (u32, u32), [left, top, right, bottom]: Part, ink: [u8; 3]) {
        let x = |eighths: u32| (eighths * CELL.0).div_ceil(8);
        let y = |eighths: u32| (eighths * CELL.1).div_ceil(8);
        let size = ((x(right) - x(left)).max(1), (y(bottom) - y(top)).max(1));
        self.rectangle((at.0 + x(left), at.1 + y(top)), size, ink);
    }

    fn rectangle(&mut self, (left, top): (u32, u32), (width, height): (u32, u32), ink: [u8; 3]) {
        for y in top..top + height {
            for x in left..left + width {
                self.blend((x, y), ink, 1.0);
            }
        }
    }

    /// Puts so much ink on a pixel, 0 to 1.
    fn blend(&mut self, (x, y): (u32, u32), ink: [u8; 3], part: f32) {
        if x >= self.width || y >= self.height {
            return;
        }
        let start = ((y * self.width + x) * 3) as usize;
        let pixel = &mut self.bytes[start..start + 3];
        let before = [pixel[0], pixel[1], pixel[2]];
        pixel.copy_from_slice(&mix(before, ink, part));
    }

    fn write(&self, path: &str) -> Result<(), Box<dyn Error>> {
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.write_header()?.write_image_data(&self.bytes)?;
        Ok(())
    }
}
