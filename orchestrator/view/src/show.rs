//! [`Show`]: a panel as text, CSV or JSON, without a terminal.

pub mod table;

use client::feed::Feed;
use protocol::SessionTime;
use protocol::report::{History, Layout, Snapshot, TopicReport};

use self::table::Table;
use crate::app::event::Event;
use crate::app::model::Model;
use crate::app::update::update;
use crate::panels::Panel;
use crate::ui::painting;

/// Output of `phalanx show` for a panel.
pub struct Show {
    /// The sentence about the panel in the help of `phalanx show`, without its full stop.
    pub about: &'static str,
    /// The source of its figures.
    pub source: Source,
}

/// The source of a panel's figures.
pub enum Source {
    /// Answers of the primary.
    Run {
        /// Answers that it needs besides the snapshot.
        needs: &'static [Need],
        /// True if its text is the panel as drawn, false if it is the table.
        is_drawn: bool,
        /// Makes the table.
        table: fn(&RunFigures) -> Table,
        /// Makes the JSON, indented.
        json: fn(&RunFigures) -> serde_json::Result<String>,
    },
    /// The log files of a run, living or ended.
    LogFiles,
}

/// An answer of the primary besides the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Past figures and events.
    History,
    /// Levels and static models.
    Layout,
    /// Topics of the simulated worlds.
    Topics,
}

/// Figures of a run at one moment; those that a panel does not need are empty.
#[derive(Clone, Debug)]
pub struct RunFigures {
    /// The run's name.
    pub run: String,
    /// True if text may have more than ASCII.
    pub has_unicode: bool,
    /// Its figures now.
    pub snapshot: Snapshot,
    /// Its past figures and events.
    pub history: History,
    /// Its levels and static models.
    pub layout: Layout,
    /// Its topics.
    pub topics: Vec<TopicReport>,
}

impl RunFigures {
    /// Makes the model of a view that has just heard these figures.
    pub fn model(&self) -> Model {
        let mut model = Model::new(self.run.clone(), false);
        model.terminal.has_color = false;
        model.terminal.has_unicode = self.has_unicode;
        let feeds = [
            Feed::Connected,
            Feed::History(Box::new(self.history.clone())),
            Feed::Snapshot(Box::new(self.snapshot.clone())),
            Feed::Layout(Box::new(self.layout.clone())),
        ];
        for feed in feeds {
            update(&mut model, Event::Feed(feed), SessionTime::default());
        }
        model
    }

    /// Returns a panel as it is drawn in so many columns and rows, without trailing blanks.
    pub fn drawn(&self, panel: Panel, size: (u16, u16)) -> String {
        let mut model = self.model();
        model.screen.focus = panel;
        painting::panel_as_text(&mut model, panel, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;
    use protocol::report::HistorySample;

    /// Returns the figures of the small run that tests show.
    fn figures() -> RunFigures {
        RunFigures {
            run: "demo".to_owned(),
            has_unicode: true,
            snapshot: Snapshot {
                stats: fixture::stats(),
                peers: fixture::peers(),
                levels: fixture::levels(),
                performers: fixture::performers(),
            },
            history: History {
                samples: vec![HistorySample::default()],
                steps: fixture::stats().steps,
                ..History::default()
            },
            layout: fixture::layout(),
            topics: Vec::new(),
        }
    }

    #[test]
    fn every_panel_is_shown_in_every_format() {
        let figures = figures();
        for panel in Panel::ALL {
            let show = &panel.row().show;
            assert!(!show.about.ends_with('.'), "{panel:?}");
            let Source::Run { table, json, .. } = show.source else {
                continue;
            };
            let csv = table(&figures).csv();
            assert!(csv.ends_with("\r\n"), "{panel:?}: {csv}");
            let json = json(&figures).unwrap();
            serde_json::from_str::<serde_json::Value>(&json).unwrap();
            assert_eq!(figures.drawn(panel, (100, 30)).lines().count(), 30);
        }
    }

    fn table(panel: Panel) -> Table {
        match panel.row().show.source {
            Source::Run { table, .. } => table(&figures()),
            Source::LogFiles => panic!("{panel:?} is read from files"),
        }
    }

    fn json(panel: Panel) -> serde_json::Value {
        match panel.row().show.source {
            Source::Run { json, .. } => serde_json::from_str(&json(&figures()).unwrap()).unwrap(),
            Source::LogFiles => panic!("{panel:?} is read from files"),
        }
    }

    #[test]
    fn levels_say_what_is_in_them_and_what_stands_still() {
        assert_eq!(
            table(Panel::Levels).render(),
            "\
LEVEL  WORLD      STATE      OWNER  PERFORMERS       GHOSTS   HAND-OFFS  MODELS           \
PHYSICS US  SYSTEMS US  SENSORS US
west   warehouse  active     s1     ball,box         rover_1  0          shelf_1,shelf_2  \
121         8           0
east   warehouse  active     s2     rover_1,rover_2  -        1          conveyor         \
290         8           13
dock   warehouse  inactive   s1     -                -        0          -                \
0           0           0
yard   warehouse  suspended  s1     crate            -        0          -                \
61          4           0
"
        );
    }

    #[test]
    fn performers_are_listed_with_their_hand_offs() {
        let csv = table(Panel::Performers).csv();
        assert!(csv.starts_with("performer,owner,level,activates,x,y,z,hand_offs\r\n"));
        assert!(
            csv.contains("rover_1,s2,east,\"east,west\",1.250,-2.000,0.150,1\r\n"),
            "{csv}"
        );
    }

    #[test]
    fn the_overview_says_who_holds_the_run_back() {
        let figures = json(Panel::Overview);
        assert_eq!(figures["verdict"]["culprit"], "peer s2", "{figures}");
        assert_eq!(figures["slowest_levels"][0]["name"], "east", "{figures}");
        let csv = table(Panel::Overview).csv();
        assert!(csv.contains("culprit,peer s2\r\n"), "{csv}");
        assert!(csv.contains("physics_us,621.0\r\n"), "{csv}");
    }

    #[test]
    fn latency_has_the_past_and_the_histogram() {
        let figures = json(Panel::Latency);
        assert_eq!(figures["split"]["network_us"], 182.0, "{figures}");
        let count = &figures["histogram"][0]["count"];
        assert!(count.as_u64() > Some(0), "{figures}");
        let csv = table(Panel::Latency).csv();
        let heading = "age_s,iteration,real_time_factor,p50_us,p90_us,p99_us,max_us,physics_us,";
        assert!(csv.starts_with(heading), "{csv}");
        assert_eq!(csv.lines().count(), 2);
    }

    #[test]
    fn the_map_has_levels_models_and_performers() {
        let csv = table(Panel::Map).csv();
        assert!(csv.contains("level,west,-20.000,-5.000"), "{csv}");
        assert!(csv.contains("performer,ball,-14.000,3.000,0.500"), "{csv}");
    }
}
