//! "Where to look": a ring around something on a screen for a few seconds, brought into view if it lies outside.
//!
//! Screens call [`mark`] with what they have just drawn; it costs a look-up, and draws only while a lesson points there.

use eframe::egui::{Context, CornerRadius, Id, Rect, Stroke, StrokeKind, Ui};

use crate::model::lesson::Spot;
use crate::model::profile::ServerId;
use crate::ui::theme::{self, CORNER, UNIT};

/// How long the ring stays.
const SHOWS_SECS: f64 = 6.0;
/// For the ring around it.
const ROOM: f32 = 2.0 * UNIT;
/// One breath of the ring.
const PULSE_SECS: f64 = 1.5;

#[derive(Clone)]
struct Pointed {
    what: &'static str,
    /// Where several of a kind stand on one screen.
    server: Option<ServerId>,
    /// In egui's time; none before it was first seen.
    until: Option<f64>,
    scrolled: bool,
}

/// From the next frame on, this is ringed.
pub fn point(ctx: &Context, spot: Spot, server: Option<ServerId>) {
    let pointed = Pointed {
        what: element(spot),
        server,
        until: None,
        scrolled: false,
    };
    ctx.data_mut(|data| data.insert_temp(id(), pointed));
    ctx.request_repaint();
}

/// Says where an element that may be pointed at has been drawn.
pub fn mark(ui: &Ui, what: &str, place: Rect) {
    mark_if(ui, place, |pointed| pointed.what == what);
}

/// The same for one of several, one for each server.
pub fn mark_of(ui: &Ui, what: &str, server: &ServerId, place: Rect) {
    mark_if(ui, place, |pointed| {
        pointed.what == what
            && pointed
                .server
                .as_ref()
                .is_none_or(|wanted| wanted == server)
    });
}

/// Draws, and says where it was drawn.
pub fn around<R>(ui: &mut Ui, what: &str, content: impl FnOnce(&mut Ui) -> R) -> R {
    let shown = ui.scope(content);
    mark(ui, what, shown.response.rect);
    shown.inner
}

fn mark_if(ui: &Ui, place: Rect, is_meant: impl FnOnce(&Pointed) -> bool) {
    let Some(mut pointed) = ui.data(|data| data.get_temp::<Pointed>(id())) else {
        return;
    };
    if !is_meant(&pointed) {
        return;
    }
    let now = ui.input(|input| input.time);
    let until = *pointed.until.get_or_insert(now + SHOWS_SECS);
    if now >= until {
        ui.data_mut(|data| data.remove::<Pointed>(id()));
        return;
    }
    if !pointed.scrolled {
        ui.scroll_to_rect(place.expand(ROOM), None);
        pointed.scrolled = true;
    }
    ui.data_mut(|data| data.insert_temp(id(), pointed));
    ring(ui, place, until - now);
    ui.ctx().request_repaint_after_secs(0.05);
}

/// It breathes: a still frame is taken for a part of the screen.
fn ring(ui: &Ui, place: Rect, left_secs: f64) {
    let phase = (left_secs / PULSE_SECS * std::f64::consts::TAU).cos();
    let width = 2.5 + phase as f32;
    let stroke = Stroke::new(width, theme::palette(ui).accent);
    // over whatever the element's own place clips away
    let painter = ui.painter().with_clip_rect(ui.clip_rect().expand(ROOM));
    let round = CornerRadius::same(CORNER);
    painter.rect_stroke(place.expand(2.0), round, stroke, StrokeKind::Outside);
}

fn id() -> Id {
    Id::unique("lesson pointer")
}

/// What the screens call it. Panels go by their own names.
fn element(spot: Spot) -> &'static str {
    match spot {
        Spot::ServerChannels(_) => "channels",
        Spot::ServerAppliers(_) => "appliers",
        Spot::ServerGtids(_) => "gtids",
        Spot::ServerSettings(_) => "settings",
        Spot::ServerLoad(_) => "load",
        Spot::LagClocks(_) => "clocks",
        other => other.code(),
    }
}
