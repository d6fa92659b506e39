//! `replicascope lab --lesson ID --headless`: a lesson that goes through itself. Each step is printed, done, and waited
//! for with the very parts the window is made of; it ends with 0 only if everything was seen.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui::Context;

use super::{FAILED, ended, interrupt, interrupted};
use crate::app::cli::LabArgs;
use crate::app::lab::plan::{lesson, plan_for, wanted};
use crate::app::signals;
use crate::app::window::{App, WindowOptions};
use crate::link::clock;
use crate::model::lesson::{Lesson, LessonOrder, Step};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;
use crate::ui::lesson::wording::{act_phrase, in_language, made_again_phrase};
use crate::words::Catalogue;

/// Not everything was seen.
const NOT_SEEN: u8 = 1;

/// How often everybody is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A lab of real servers is made for the first time.
const LAB_LIMIT: Duration = Duration::from_secs(120);

/// What cannot be seen in so long cannot be seen: the machine may be slow, and a finding has to hold for a while.
const STEP_LIMIT: Span = Span::from_secs(120);

pub fn run(args: &LabArgs, words: &Catalogue) -> ExitCode {
    ended(try_run(args, words), words)
}

fn try_run(args: &LabArgs, words: &Catalogue) -> Result<ExitCode, Phrase> {
    signals::when_told_to_end(interrupt);
    let Some(lesson) = lesson(args)? else {
        return Ok(ExitCode::from(FAILED));
    };
    let lab = wanted(args, plan_for(Some(&lesson)))?;
    let options = WindowOptions {
        lab: Some(lab),
        lesson: Some(lesson.id.clone()),
        language: args.language,
        ..WindowOptions::default()
    };
    let mut class = Class::open(options, words)?;
    let seen = class.teach();
    class.app.close();
    seen
}

/// The window's parts without a window.
struct Class<'a> {
    app: App,
    ctx: Context,
    words: &'a Catalogue,
}

impl<'a> Class<'a> {
    fn open(options: WindowOptions, words: &'a Catalogue) -> Result<Self, Phrase> {
        let ctx = Context::default();
        let app = App::new(&ctx, options)
            .map_err(|error| phrase("cli.no_thread").with("reason", error.to_string()))?;
        Ok(Class { app, ctx, words })
    }

    fn teach(&mut self) -> Result<ExitCode, Phrase> {
        let mut out = io::stdout();
        let lesson = self.until_it_begins()?;
        let words = self.words;
        let heading = phrase("lab_screen.lesson.heading")
            .with("n", u64::from(lesson.number))
            .with("title", in_language(words, &lesson.title));
        say(&mut out, &words.say(&heading));
        say(&mut out, in_language(words, &lesson.goal));
        for (n, step) in lesson.steps.iter().enumerate() {
            if interrupted() {
                say(&mut out, words.text("lab_screen.lesson.interrupted"));
                return Ok(ExitCode::from(NOT_SEEN));
            }
            self.step(&mut out, (n, lesson.steps.len()), step);
        }
        Ok(self.verdict(&mut out, &lesson))
    }

    fn verdict(&self, out: &mut impl Write, lesson: &Lesson) -> ExitCode {
        let run = self.app.lesson().run.as_ref();
        let ticked = run.map_or(0, |run| run.steps_ticked());
        let all = lesson.steps.len();
        let key = match ticked == all {
            true => "lab_screen.lesson.all_seen",
            false => "lab_screen.lesson.some_missing",
        };
        let text = Phrase::new(key)
            .with("n", ticked as u64)
            .with("of", all as u64);
        say(out, "");
        say(out, &self.words.say(&text));
        match ticked == all {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(NOT_SEEN),
        }
    }

    /// The lesson in the words of the lab's servers.
    fn until_it_begins(&mut self) -> Result<Arc<Lesson>, Phrase> {
        let give_up_at = Instant::now() + LAB_LIMIT;
        loop {
            if let Some(run) = &self.app.lesson().run {
                return Ok(run.shared_lesson());
            }
            if interrupted() {
                return Err(phrase("lab_screen.lesson.interrupted"));
            }
            if let Some(why) = self.app.lab_failure() {
                return Err(why);
            }
            if Instant::now() > give_up_at {
                return Err(phrase("lab_screen.failed"));
            }
            self.look();
        }
    }

    fn look(&mut self) {
        self.app.advance(&self.ctx);
        thread::sleep(LOOK_EVERY);
    }

    fn step(&mut self, out: &mut impl Write, (n, of): (usize, usize), step: &Step) {
        let words = self.words;
        let text = phrase("lab_screen.lesson.step")
            .with("n", n as u64 + 1)
            .with("of", of as u64)
            .with("text", in_language(words, &step.text));
        say(out, "");
        say(out, &words.say(&text));
        for act in &step.acts {
            let text = phrase("lab_screen.lesson.does").with("act", act_phrase(act));
            say(out, &format!("     {}", words.say(&text)));
        }
        if let Some(spot) = step.look {
            self.app.obey_lesson(&self.ctx, LessonOrder::Look(spot));
        }
        self.app.obey_lesson(&self.ctx, LessonOrder::Act);
        let began = clock::now();
        let outcome = self.until_seen(out, step);
        let took = clock::now().since(began);
        let text = match outcome {
            Ok(true) if step.until.is_none() => None,
            Ok(true) => Some(phrase("lab_screen.lesson.seen").with("span", took)),
            Ok(false) => Some(phrase("lab_screen.lesson.not_seen").with("span", took)),
            Err(why) => Some(phrase("lab_screen.lesson.not_done").with("why", why)),
        };
        if let Some(text) = text {
            say(out, &format!("     {}", words.say(&text)));
        }
        self.app.obey_lesson(&self.ctx, LessonOrder::Forward);
    }

    /// Until everything is done and what the step waits for was seen. An error when an act could not be done.
    fn until_seen(&mut self, out: &mut impl Write, step: &Step) -> Result<bool, Phrase> {
        let limit = (step.patience + step.patience).max(STEP_LIMIT);
        let give_up_at = Instant::now() + limit.to_duration();
        let mut told = None;
        loop {
            self.look();
            let board = self.app.lesson();
            if board.made_again != told {
                told = board.made_again.clone();
                let text = told.as_ref().map(made_again_phrase);
                text.inspect(|text| say(out, &format!("     {}", self.words.say(text))));
            }
            if let Some(why) = &board.trouble {
                return Err(why.clone());
            }
            let ticked = board
                .run
                .as_ref()
                .is_some_and(|run| run.is_current_ticked());
            if !board.is_acting && (ticked || step.until.is_none()) {
                return Ok(true);
            }
            if interrupted() || Instant::now() > give_up_at {
                return Ok(ticked);
            }
        }
    }
}

/// A closed pipe is no reason to leave the lab standing.
fn say(out: &mut impl Write, line: &str) {
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    drop(written);
}
