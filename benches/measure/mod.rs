//! Contenders measured in turn, so that a slow moment of the machine meets all of them, and by the
//! time of their thread on the processor, so that other programs do not count.

mod args;
mod spread;
mod table;

use std::time::Duration;

use cpu_time::ThreadTime;

pub(crate) use self::args::Args;
pub(crate) use self::spread::Spread;
pub(crate) use self::table::markdown;
use crate::floors::Contender;

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// How often each contender has its turn.
    pub(crate) rounds: usize,
    /// How long a turn is at least.
    pub(crate) turn: Duration,
}

impl Effort {
    /// For figures.
    pub(crate) const FULL: Self = Self { rounds: 75, turn: Duration::from_millis(1) };

    /// To see that it runs: each contender does its work once.
    pub(crate) const LEAST: Self = Self { rounds: 1, turn: Duration::ZERO };
}

/// Seconds that each contender took for one pass, round by round.
pub(crate) fn in_turn(contenders: &mut [Contender<'_>], effort: Effort) -> Vec<Vec<f64>> {
    let passes: Vec<_> =
        contenders.iter_mut().map(|contender| passes_in(effort.turn, contender)).collect();
    let mut seconds = vec![Vec::with_capacity(effort.rounds); contenders.len()];
    for _ in 0..effort.rounds {
        for ((contender, &passes), seconds) in contenders.iter_mut().zip(&passes).zip(&mut seconds)
        {
            seconds.push(seconds_per_pass(contender, passes));
        }
    }
    seconds
}

/// Seconds for one pass, over so many of them.
pub(crate) fn seconds_per_pass(contender: &mut Contender<'_>, passes: u32) -> f64 {
    time(contender, passes).as_secs_f64() / f64::from(passes)
}

/// How many passes fill a turn, even the quickest of three. Finding out also warms up.
pub(crate) fn passes_in(turn: Duration, contender: &mut Contender<'_>) -> u32 {
    let mut passes = 1;
    loop {
        if (0..3).all(|_| time(contender, passes) >= turn) {
            return passes;
        }
        passes *= 2;
    }
}

fn time(contender: &mut Contender<'_>, passes: u32) -> Duration {
    let start = ThreadTime::now();
    for _ in 0..passes {
        contender.run();
    }
    start.elapsed()
}
