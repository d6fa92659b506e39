//! Every state in both themes and both languages.

use super::*;

#[test]
fn every_state_can_be_drawn_in_both_themes_and_both_languages() {
    type Make = fn() -> Window;
    let states: [(&str, Make); 8] = [
        ("first-run", || Window {
            shell: ShellState::default(),
            ..nothing()
        }),
        ("nothing", nothing),
        ("details", || {
            let mut window = nothing();
            window.lab.details_open = true;
            window
        }),
        ("starting", || {
            let starting = status(LabPhase::Starting(phrase("lab_screen.looking")));
            Window::of(fixtures::nothing_yet(), board(starting))
        }),
        ("failed", || {
            let failed = status(LabPhase::Failed(trouble()));
            Window::of(fixtures::nothing_yet(), board(failed))
        }),
        ("running", || lab(real())),
        ("faults", || lab(with_faults())),
        ("stuck", || lab(with_a_stuck_fault(Some(6_200)))),
    ];
    side_by_side(
        [(Theme::Dark, EN), (Theme::Light, ZH)],
        |(theme, language)| {
            for (name, make) in states {
                let crowded = matches!(name, "running" | "faults" | "stuck" | "details");
                let sizes = [WIDE, SMALL, TALL];
                for size in sizes.into_iter().take(if crowded { 3 } else { 1 }) {
                    let mut window = make();
                    window.language = language;
                    picture(window, size, theme, &format!("lab-{name}-{}", size.y));
                }
            }
        },
    );
}

#[test]
fn faults_on_the_overview_and_in_the_journal_can_be_drawn() {
    for (theme, language) in [(Theme::Dark, EN), (Theme::Light, ZH)] {
        for (name, screen) in [("overview", Screen::Overview), ("events", Screen::Events)] {
            let mut window = lab(with_faults());
            window.language = language;
            window.shell.screen = screen;
            picture(window, WIDE, theme, &format!("lab-{name}"));
        }
    }
}

fn picture(window: Window, size: Vec2, theme: Theme, name: &str) {
    let look = look(theme, window.language);
    let mut harness = harness(window, size, theme);
    keep(&mut harness, &format!("{name}-{look}"));
}
