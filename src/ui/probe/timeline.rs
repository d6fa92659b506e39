//! One run in the order of time, a row for each connection.

use eframe::egui::accesskit::Role;
use eframe::egui::{Align2, Color32, Rect, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::model::phrase::phrase;
use crate::ui::theme::{self, Palette, UNIT, size};
use crate::words::Catalogue;

#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    pub rows: Vec<TimeRow>,
    /// Where the commit is marked, and how far the axis reaches; milliseconds since the write was sent.
    pub committed_ms: f64,
    pub end_ms: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TimeRow {
    pub name: String,
    pub session: String,
    pub bars: Vec<Bar>,
    /// What it found, in words.
    pub text: String,
}

/// A stretch of time, in milliseconds since the write was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub from: f64,
    pub to: f64,
    pub tone: Tone,
}

impl Bar {
    pub fn instant(at: f64) -> Self {
        let tone = Tone::Seen;
        Bar {
            from: at,
            to: at,
            tone,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Write,
    Wait,
    WaitInVain,
    Fresh,
    Stale,
    Failed,
    Seen,
}

impl Tone {
    fn color(self, palette: &Palette) -> Color32 {
        match self {
            Tone::Write => palette.accent,
            Tone::Wait => palette.warning,
            Tone::WaitInVain => palette.area(palette.warning),
            Tone::Fresh => palette.ok,
            Tone::Stale => palette.critical,
            Tone::Failed => palette.unknown,
            Tone::Seen => palette.dim,
        }
    }
}

impl Timeline {
    pub fn new(rows: Vec<TimeRow>, committed_ms: f64) -> Self {
        let ends = rows.iter().flat_map(|row| &row.bars).map(|bar| bar.to);
        let end_ms = ends
            .filter(|end| end.is_finite())
            .fold(committed_ms, f64::max)
            .max(0.1);
        Timeline {
            rows,
            committed_ms,
            end_ms,
        }
    }

    /// About five marks in steps of 1, 2 or 5.
    pub fn step_ms(&self) -> f64 {
        nice_step(self.end_ms / 5.0)
    }
}

/// The next of 1, 2, 5, 10, …
pub fn nice_step(least: f64) -> f64 {
    let least = least.max(1e-6);
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|n| n * power);
    steps
        .into_iter()
        .find(|step| *step >= least * 0.999)
        .unwrap_or(10.0 * power)
}

const ROW: f32 = 9.0 * UNIT;
const BAR: f32 = 3.5 * UNIT;
const BELOW: f32 = 5.0 * UNIT;
/// Nothing that happened is drawn narrower.
const NARROWEST: f32 = 3.0;

pub fn timeline_ui(ui: &mut Ui, words: &Catalogue, timeline: &Timeline) {
    let width = ui.available_width();
    let height = ROW * timeline.rows.len() as f32 + BELOW;
    let (outer, response) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let told: Vec<String> = timeline
        .rows
        .iter()
        .map(|row| format!("{}: {}", row.name, row.text))
        .collect();
    let told = told.join("; ");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &told));
    let left = (width * 0.24).clamp(30.0 * UNIT, 52.0 * UNIT);
    // room for the words behind a bar that ends last
    let right = (width * 0.3).clamp(40.0 * UNIT, 90.0 * UNIT);
    let inner = Rect::from_min_max(outer.min + vec2(left, 0.0), outer.max - vec2(right, BELOW));
    axis_ui(ui, words, timeline, inner);
    for (n, row) in timeline.rows.iter().enumerate() {
        let top = inner.min.y + ROW * n as f32;
        let place = Rect::from_min_max(pos2(outer.min.x, top), pos2(outer.max.x, top + ROW));
        row_ui(ui, timeline, row, place, inner);
    }
}

fn x_at(timeline: &Timeline, inner: Rect, millis: f64) -> f32 {
    let share = (millis / timeline.end_ms).clamp(-0.02, 1.0) as f32;
    inner.min.x + share * inner.width()
}

fn axis_ui(ui: &Ui, words: &Catalogue, timeline: &Timeline, inner: Rect) {
    let palette = theme::palette(ui);
    let painter = ui.painter();
    let step = timeline.step_ms();
    let count = (timeline.end_ms / step * 1.001).floor() as usize;
    for n in 0..=count.min(20) {
        let millis = n as f64 * step;
        let x = x_at(timeline, inner, millis);
        painter.vline(x, inner.y_range(), Stroke::new(1.0, palette.grid));
        let digits = trimmed(millis);
        let text = words.say(&phrase("probe_screen.exact").with("n", digits));
        let at = pos2(x, inner.max.y + 0.5 * UNIT);
        painter.text(at, Align2::CENTER_TOP, text, theme::tiny(), palette.dim);
    }
    let commit = x_at(timeline, inner, timeline.committed_ms);
    let stroke = Stroke::new(1.0, palette.accent.gamma_multiply(0.6));
    painter.vline(commit, inner.y_range(), stroke);
}

/// As few digits as the number needs.
pub fn trimmed(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn row_ui(ui: &mut Ui, timeline: &Timeline, row: &TimeRow, place: Rect, inner: Rect) {
    let palette = theme::palette(ui);
    let middle = place.center().y;
    let names = Rect::from_min_max(place.min, pos2(inner.min.x - 2.0 * UNIT, place.max.y));
    name_ui(ui, row, names, palette);
    // without a bar the words stand behind the commit, from which on it could have been
    let mut end = x_at(timeline, inner, timeline.committed_ms);
    if let Some(bar) = row.bars.first() {
        end = x_at(timeline, inner, bar.from);
    }
    for bar in &row.bars {
        let from = x_at(timeline, inner, bar.from);
        let to = x_at(timeline, inner, bar.to).max(from + NARROWEST);
        let rect = Rect::from_min_max(pos2(from, middle - BAR / 2.0), pos2(to, middle + BAR / 2.0));
        ui.painter().rect_filled(rect, 2.0, bar.tone.color(palette));
        end = end.max(to);
    }
    let room = (place.max.x - end - 2.0 * UNIT).max(0.0);
    let mut job = eframe::egui::text::LayoutJob::simple_singleline(
        row.text.clone(),
        eframe::egui::FontId::proportional(size::SMALL),
        palette.text,
    );
    job.wrap = eframe::egui::text::TextWrapping::truncate_at_width(room);
    let galley = ui.painter().layout_job(job);
    let was_cut = galley.elided;
    let at = pos2(end + 1.5 * UNIT, middle - galley.size().y / 2.0);
    ui.painter().galley(at, galley, palette.text);
    let id = ui.scope_id().with(("row", &row.name));
    let hovered = ui.interact(place, id, Sense::hover());
    if was_cut {
        hovered.on_hover_text(&row.text);
    }
}

fn name_ui(ui: &Ui, row: &TimeRow, place: Rect, palette: &Palette) {
    let line = |text: &str, size: f32, color: Color32| {
        let font = eframe::egui::FontId::proportional(size);
        let mut job =
            eframe::egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = eframe::egui::text::TextWrapping::truncate_at_width(place.width());
        ui.painter().layout_job(job)
    };
    let name = line(&row.name, size::SMALL, palette.text);
    let session = line(&row.session, 10.0, palette.dim);
    let top = place.center().y - (name.size().y + session.size().y) / 2.0;
    let below = top + name.size().y;
    let at = |width: f32, y: f32| pos2(place.max.x - width, y);
    ui.painter()
        .galley(at(name.size().x, top), name, palette.text);
    ui.painter()
        .galley(at(session.size().x, below), session, palette.dim);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (least, step) in [
            (0.7, 1.0),
            (1.3, 2.0),
            (3.1, 5.0),
            (6.0, 10.0),
            (0.011, 0.02),
        ] {
            assert!((nice_step(least) - step).abs() < 1e-9, "{least}");
        }
        assert_eq!(trimmed(20.0), "20");
        assert_eq!(trimmed(0.5), "0.5");
    }

    #[test]
    fn the_axis_reaches_to_what_happened_last() {
        let row = TimeRow {
            name: String::new(),
            session: String::new(),
            bars: vec![Bar::instant(38.0)],
            text: String::new(),
        };
        assert_eq!(Timeline::new(vec![row], 3.0).end_ms, 38.0);
        assert_eq!(Timeline::new(Vec::new(), 3.0).end_ms, 3.0);
    }
}
