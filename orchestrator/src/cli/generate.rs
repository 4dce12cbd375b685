//! The command line of `phalanx generate`.

use clap::{Args, Subcommand};

/// The arguments of `phalanx generate`.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// World to generate
    #[command(subcommand)]
    pub world: GeneratedWorld,
}

/// The worlds that can be generated.
#[derive(Debug, Subcommand)]
pub enum GeneratedWorld {
    /// Wheeled robots on a plane that is divided into levels; they wait to be driven, by `D` in the
    /// view or with `phalanx topic pub`
    Fleet {
        /// Number of robots
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
        robots: u32,
        /// Levels along x and y, such as 4x2
        #[arg(long, value_name = "XxY", value_parser = parse_levels)]
        levels: LevelGrid,
    },
    /// Boxes that fall and pile up where levels meet
    Piles {
        /// Number of boxes
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
        boxes: u32,
        /// Levels along x and y, such as 2x2
        #[arg(long, value_name = "XxY", value_parser = parse_levels)]
        levels: LevelGrid,
    },
}

/// Numbers of levels along x and y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelGrid(pub [u32; 2]);

fn parse_levels(text: &str) -> Result<LevelGrid, String> {
    let advice = || "use two numbers from 1 to 1000 such as 4x2".to_owned();
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| (1..=1000).contains(n));
    let (x, y) = text.split_once(['x', 'X']).ok_or_else(advice)?;
    Ok(LevelGrid([
        number(x).ok_or_else(advice)?,
        number(y).ok_or_else(advice)?,
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_two_numbers() {
        assert_eq!(parse_levels("4x2"), Ok(LevelGrid([4, 2])));
        assert!(parse_levels("4").is_err() && parse_levels("0x2").is_err());
    }
}
