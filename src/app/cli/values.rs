//! How the values of options are read, and within what bounds.

use super::selection::Given;
use crate::model::probe::{LONGEST_WAIT, SHORTEST_WAIT};
use crate::model::profile::Target;
use crate::model::time::Span;
use crate::settings::durations;
use crate::words::{Catalogue, Language};

/// Of polls, marks and times to run.
const SHORTEST: Span = Span::from_millis(20);
const LONGEST: Span = Span::from_secs(86_400);

pub(super) fn given(text: &str) -> Result<Given, String> {
    let target = Target::parse(text).map_err(|why| Catalogue::of(Language::English).say(&why))?;
    Ok(Given {
        text: text.trim().to_owned(),
        target,
    })
}

pub(super) fn threshold(text: &str) -> Result<Span, String> {
    durations::parse(text).map_err(|why| Catalogue::of(Language::English).say(&why))
}

pub(super) fn wait_limit(text: &str) -> Result<Span, String> {
    let span = threshold(text)?;
    if span < SHORTEST_WAIT || span > LONGEST_WAIT {
        return Err("between 1ms and 60s".to_owned());
    }
    Ok(span)
}

pub(super) fn interval(text: &str) -> Result<Span, String> {
    let span = threshold(text)?;
    if span < SHORTEST || span > LONGEST {
        return Err("between 20ms and 1d".to_owned());
    }
    Ok(span)
}
