//! "Why this number lies": what each method can get wrong, in one or two sentences, beside the number itself.

use crate::lag::verdict::method_name;
use crate::model::dialect::Dialect;
use crate::model::lag::Method;
use crate::ui::Frame;
use crate::ui::panels::{Block, Panel, Tone};

/// The key of the sentence of one method.
pub fn key(method: Method) -> &'static str {
    match method {
        Method::GtidMarks => "methods.lies.gtid_marks",
        Method::Applier => "methods.lies.applier",
        Method::Heartbeat => "methods.lies.heartbeat",
        Method::Platform => "methods.lies.platform",
        Method::SecondsBehind => "methods.lies.seconds_behind",
    }
}

pub fn panel(frame: &Frame<'_>, dialect: Dialect) -> Panel {
    let mut panel = Panel::new("lies", frame.words.text("methods.lies.title"));
    for method in Method::ALL {
        panel.push(Block::Heading(
            frame.words.say(&method_name(method, dialect)),
        ));
        panel.say(frame.words.text(key(method)), Tone::Dim);
    }
    panel
}
