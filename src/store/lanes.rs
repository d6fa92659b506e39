//! The state of a channel over time, as spans: the lane under the lag plot in which a stop is seen.

use std::collections::VecDeque;

use crate::model::finding::Health;
use crate::model::time::Moment;

const SPANS: usize = 2_000;

/// A stretch of one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub from: Moment,
    pub to: Moment,
    pub health: Health,
}

#[derive(Clone, Debug, Default)]
pub struct Lane {
    stretches: VecDeque<Stretch>,
}

impl Lane {
    pub fn push(&mut self, at: Moment, health: Health) {
        if let Some(last) = self.stretches.back_mut() {
            last.to = at;
            if last.health == health {
                return;
            }
        }
        self.stretches.push_back(Stretch {
            from: at,
            to: at,
            health,
        });
        if self.stretches.len() > SPANS {
            self.stretches.pop_front();
        }
    }

    pub fn between(&self, from: Moment, to: Moment) -> impl Iterator<Item = &Stretch> {
        self.stretches
            .iter()
            .filter(move |stretch| stretch.to >= from && stretch.from <= to)
    }
}
