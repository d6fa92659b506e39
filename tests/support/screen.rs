//! A screen without a window: drawn, pressed and looked at.

use std::collections::HashSet;
use std::path::PathBuf;
use std::thread;

use eframe::egui::accesskit::Role;
use eframe::egui::{Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use replicascope::ui::{fonts, theme};
use replicascope::words::Language;

use super::soft_renderer::SoftRenderer;

pub const EN: Language = Language::English;
pub const ZH: Language = Language::SimplifiedChinese;
/// The window at first, and a small one.
pub const WIDE: Vec2 = vec2(1280.0, 800.0);
pub const SMALL: Vec2 = vec2(1024.0, 640.0);

/// Draws in several looks at once: a picture takes a second or two of one core.
pub fn side_by_side<L: Send>(looks: impl IntoIterator<Item = L>, draw: impl Fn(L) + Sync) {
    thread::scope(|scope| {
        for look in looks {
            let draw = &draw;
            scope.spawn(move || draw(look));
        }
    });
}

/// Draws until nothing moves any more.
pub fn open<S>(
    draw: impl FnMut(&mut Ui, &mut S) + 'static,
    state: S,
    size: Vec2,
    theme: Theme,
) -> Harness<'static, S> {
    open_zoomed(draw, state, size, theme, 1.0)
}

pub fn open_zoomed<S>(
    draw: impl FnMut(&mut Ui, &mut S) + 'static,
    state: S,
    size: Vec2,
    theme: Theme,
    zoom: f32,
) -> Harness<'static, S> {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_pixels_per_point(zoom)
        .with_theme(theme)
        .with_context_setup(|ctx| {
            fonts::install(ctx);
            theme::install(ctx);
            // as the program does: its steps are its own
            ctx.options_mut(|options| options.zoom_with_keyboard = false);
        })
        .renderer(SoftRenderer::default())
        .build_ui_state(draw, state);
    harness.run_steps(4);
    harness
}

pub fn press<S>(window: &mut Harness<'static, S>, button: &str) {
    window.get_by_role_and_label(Role::Button, button).click();
    window.run_steps(3);
}

pub fn is_disabled<S>(window: &Harness<'static, S>, button: &str) -> bool {
    let node = window.get_by_role_and_label(Role::Button, button);
    node.accesskit_node().is_disabled()
}

/// For the names of pictures: "dark-en".
pub fn look(theme: Theme, language: Language) -> String {
    let theme = match theme {
        Theme::Dark => "dark",
        Theme::Light => "light",
    };
    format!("{theme}-{}", language.tag())
}

/// Keeps the picture; one that shows next to nothing is no picture.
pub fn keep<S>(window: &mut Harness<'static, S>, name: &str) {
    let picture = window.render().expect("a picture");
    let colors: HashSet<_> = picture.pixels().map(|pixel| pixel.0).collect();
    assert!(colors.len() > 30, "{name} is nearly empty");
    let folder = std::env::var_os("REPLICASCOPE_PICTURES").map_or_else(
        || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    picture
        .save(folder.join(format!("{name}.png")))
        .expect("a saved picture");
}
