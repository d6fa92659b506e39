//! `replicascope lab --headless`: a lab without a window. Says where its servers are and who may log in, and runs until
//! it is stopped.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{FAILED, ended, interrupt, interrupted};
use crate::app::cli::LabArgs;
use crate::app::lab::plan::{Wanted, lesson, plan_for, wanted};
use crate::app::lab::{LabDesk, LabNews};
use crate::app::signals;
use crate::lab::{deployment, lessons};
use crate::model::lab::{FaultKind, LabNode, LabPhase, LabStatus, Recipe};
use crate::model::phrase::{Phrase, phrase};
use crate::ui::lab::name_of;
use crate::ui::lab::wording::{client_command, fault_hint_key, fault_key, plan_phrase};
use crate::ui::lesson::wording::in_language;
use crate::words::Catalogue;

/// Longest wait between two looks at whether to end.
const ATTENTION: Duration = Duration::from_millis(100);

pub fn run(args: &LabArgs, words: &Catalogue) -> ExitCode {
    ended(try_run(args, words), words)
}

fn try_run(args: &LabArgs, words: &Catalogue) -> Result<ExitCode, Phrase> {
    let Wanted { plan, program } = wanted(args, Default::default())?;
    let mut desk = started();
    desk.start(plan, program);
    let mut out = io::stdout().lock();
    let Some(_) = until_it_runs(&mut desk, words, args.json)? else {
        return Ok(ExitCode::SUCCESS);
    };
    let Some(status) = desk.board.status.clone() else {
        return Ok(ExitCode::from(FAILED));
    };
    let printed = match args.json {
        true => print_json(&mut out, &status),
        false => print_text(&mut out, &status, words, args.run_for.is_none()),
    };
    // a closed pipe (`| head`) is an end like any other
    if printed.is_ok() {
        stay(&mut desk, args)?;
    }
    desk.close();
    Ok(ExitCode::SUCCESS)
}

/// Its thread wakes this one.
pub(super) fn started() -> LabDesk {
    signals::when_told_to_end(interrupt);
    let main = thread::current();
    LabDesk::new(Arc::new(move || main.unpark()))
}

/// Its topology, or none when it was stopped meanwhile. Tells each step.
pub(super) fn until_it_runs(
    desk: &mut LabDesk,
    words: &Catalogue,
    quiet: bool,
) -> Result<Option<LabNews>, Phrase> {
    let mut told = String::new();
    loop {
        for news in desk.take_in() {
            match news {
                LabNews::Ready { .. } => return Ok(Some(news)),
                LabNews::Failed(trouble) => return Err(with_hint(trouble.what, trouble.hint)),
                LabNews::Gone(_) | LabNews::Faults(..) => {}
            }
        }
        if let Some(LabPhase::Starting(step)) = desk.board.status.as_ref().map(|s| &s.phase) {
            let step = words.say(step);
            if step != told && !quiet {
                eprintln!("{step}");
                told = step;
            }
        }
        if interrupted() {
            desk.close();
            return Ok(None);
        }
        thread::park_timeout(ATTENTION);
    }
}

fn with_hint(what: Phrase, hint: Option<Phrase>) -> Phrase {
    match hint {
        Some(hint) => phrase("lab_screen.cli.failed")
            .with("what", what)
            .with("hint", hint),
        None => what,
    }
}

fn stay(desk: &mut LabDesk, args: &LabArgs) -> Result<(), Phrase> {
    let end = args.run_for.map(|span| Instant::now() + span.to_duration());
    while !interrupted() && end.is_none_or(|end| Instant::now() < end) {
        for news in desk.take_in() {
            if let LabNews::Failed(trouble) = news {
                return Err(with_hint(trouble.what, trouble.hint));
            }
        }
        let left = end.map_or(ATTENTION, |end| end.duration_since(Instant::now()));
        thread::park_timeout(left.min(ATTENTION));
    }
    Ok(())
}

fn print_text(
    out: &mut impl Write,
    status: &LabStatus,
    words: &Catalogue,
    until_stopped: bool,
) -> io::Result<()> {
    writeln!(out, "{}\n", words.say(&plan_phrase(&status.plan)))?;
    let widest = status.nodes.iter().map(|node| node.name.len()).max();
    for node in &status.nodes {
        let name = format!("{:width$}", node.name, width = widest.unwrap_or(0));
        writeln!(
            out,
            "  {name}  127.0.0.1:{}  {}",
            node.port,
            role(status, node, words)
        )?;
    }
    if let Some(accounts) = &status.accounts {
        writeln!(out)?;
        for (account, note) in [
            (&accounts.app, "lab_screen.account.app"),
            (&accounts.admin, "lab_screen.account.admin"),
            (&accounts.watcher, "lab_screen.account.watcher_headless"),
        ] {
            let password = account.password.expose();
            writeln!(
                out,
                "  {:7}  {password}  {}",
                account.user,
                words.text(note)
            )?;
        }
        if let Some(first) = status.nodes.first() {
            writeln!(out, "\n  {}", client_command(status, first))?;
        }
    }
    if let Some(pem) = &status.ca_pem {
        writeln!(out, "\n{}\n{}", words.text("lab_screen.cli.ca"), pem.trim())?;
    }
    if until_stopped {
        writeln!(out, "\n{}", words.text("lab_screen.cli.until_stopped"))?;
    }
    out.flush()
}

fn role(status: &LabStatus, node: &LabNode, words: &Catalogue) -> String {
    let sources: Vec<String> = node
        .copies_from
        .iter()
        .map(|source| name_of(status, *source))
        .collect();
    match sources.is_empty() {
        true => words.text("role.source").to_owned(),
        false => {
            let text = phrase("lab_screen.server.replica_of").with("source", sources.join(", "));
            words.say(&text)
        }
    }
}

/// For scripts: one object a line.
fn print_json(out: &mut impl Write, status: &LabStatus) -> io::Result<()> {
    let server = |node: &LabNode| {
        let sources = node.copies_from.iter().map(|s| name_of(status, *s));
        json!({
            "name": node.name,
            "host": "127.0.0.1",
            "port": node.port,
            "copies_from": sources.collect::<Vec<_>>(),
        })
    };
    let accounts = status.accounts.as_ref().map(|accounts| {
        let of = |account: &crate::model::lab::LabAccount| json!({"user": account.user, "password": account.password.expose()});
        json!({
            "admin": of(&accounts.admin),
            "watcher": of(&accounts.watcher),
            "app": of(&accounts.app),
        })
    });
    let servers: Vec<serde_json::Value> = status.nodes.iter().map(server).collect();
    let line = json!({"lab": {"servers": servers, "accounts": accounts, "ca_pem": status.ca_pem}});
    writeln!(out, "{line}")?;
    out.flush()
}

/// `lab --compose` and `lab --dbdeployer`: what would be started, as text for elsewhere.
pub fn write_down(args: &LabArgs, recipe: Recipe, words: &Catalogue) -> ExitCode {
    ended(try_write_down(args, recipe), words)
}

fn try_write_down(args: &LabArgs, recipe: Recipe) -> Result<ExitCode, Phrase> {
    let lesson = lesson(args)?;
    let Wanted { plan, .. } = wanted(args, plan_for(lesson.as_deref()))?;
    let text = deployment::text(&plan, recipe);
    // a closed pipe (`| head`) is an end like any other
    let _ = io::stdout().lock().write_all(text.as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// `lab --list`
pub fn list(words: &Catalogue) -> ExitCode {
    let mut out = io::stdout().lock();
    let printed = print_list(&mut out, words);
    drop(printed);
    ExitCode::SUCCESS
}

fn print_list(out: &mut impl Write, words: &Catalogue) -> io::Result<()> {
    writeln!(out, "{}", words.text("lab_screen.cli.lessons"))?;
    for lesson in lessons::all() {
        let title = in_language(words, &lesson.title);
        writeln!(out, "  {:2}  {:20}  {title}", lesson.number, lesson.id)?;
    }
    writeln!(out, "\n{}", words.text("lab_screen.cli.faults"))?;
    for kind in FaultKind::ALL {
        let name = words.text(fault_key(kind));
        let hint = words.text(fault_hint_key(kind));
        writeln!(out, "  {:17}  {name}: {hint}", kind.code())?;
    }
    out.flush()
}
