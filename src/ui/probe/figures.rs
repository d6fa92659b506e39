//! What many runs add up to, replica by replica: a table, and the same in plain sentences.

use eframe::egui::{
    Align, Color32, Label, Layout, Rect, RichText, Sense, Ui, UiBuilder, pos2, vec2,
};

use super::board::{Figures, ProbeView, ReplicaFigures};
use super::curve::Curve;
use super::wording::{SignedLine, outcome_key};
use crate::model::phrase::phrase;
use crate::model::probe::summary::{HistogramBar, Percentiles};
use crate::model::profile::TopologyProfile;
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::plot::series_color;
use crate::ui::theme::{self, UNIT, size};
use crate::ui::widgets::{Sign, sign_ui};
use crate::words::Catalogue;

#[derive(Clone, Debug, PartialEq)]
pub struct FiguresData {
    pub curves: Vec<Curve>,
    pub headings: Vec<String>,
    pub rows: Vec<Row>,
    pub sentences: Vec<String>,
    /// Whether a read that waited was ever stale.
    pub promise: SignedLine,
    /// Waits of the replica on show.
    pub waits_of: String,
    pub bars: Vec<HistogramBar>,
    pub percentiles: Option<String>,
    /// How its waits ended.
    pub outcomes: Vec<String>,
}

/// One replica: a name, then numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub color: usize,
    pub sign: Sign,
    pub numbers: Vec<String>,
    /// What the share is made of.
    pub hover: String,
}

const HEADINGS: [&str; 6] = [
    "probe_screen.table.stale",
    "probe_screen.table.reads",
    "probe_screen.table.p50",
    "probe_screen.table.p95",
    "probe_screen.table.p99",
    "probe_screen.table.on_source",
];

impl FiguresData {
    pub fn new(
        frame: &Frame<'_>,
        profile: &TopologyProfile,
        view: &ProbeView,
        shown: usize,
    ) -> Self {
        let words = frame.words;
        let figures = &view.figures;
        let color = |place: usize| series_color(Some(profile), &view.replicas[place].id, 0);
        let named = || view.replicas.iter().zip(&figures.replicas).enumerate();
        let of_shown = figures.replicas.get(shown);
        FiguresData {
            curves: named()
                .map(|(place, (replica, of))| Curve {
                    name: replica.name.clone(),
                    color: color(place),
                    points: of.curve.clone(),
                })
                .collect(),
            headings: HEADINGS.map(|key| words.text(key).to_owned()).to_vec(),
            rows: named()
                .map(|(place, (replica, of))| row(words, &replica.name, color(place), of))
                .collect(),
            sentences: named()
                .map(|(_, (replica, of))| sentence(words, &replica.name, of))
                .collect(),
            promise: promise(words, figures),
            waits_of: view
                .replicas
                .get(shown)
                .map_or_else(String::new, |r| r.name.clone()),
            bars: of_shown.map_or_else(Vec::new, |of| of.histogram.clone()),
            percentiles: of_shown.and_then(|of| Some(percentiles(words, of.waits.as_ref()?))),
            outcomes: of_shown.map_or_else(Vec::new, |of| outcomes(words, of)),
        }
    }

    /// Lines with tabs between.
    pub fn copied(&self) -> String {
        let mut text = format!("\t{}\n", self.headings.join("\t"));
        for row in &self.rows {
            text += &format!("{}\t{}\n", row.name, row.numbers.join("\t"));
        }
        for sentence in &self.sentences {
            text += &format!("{sentence}\n");
        }
        text + &format!("{}\n", self.promise.text)
    }
}

const NONE: &str = "—";

fn row(words: &Catalogue, name: &str, color: usize, of: &ReplicaFigures) -> Row {
    let wait = |pick: fn(&Percentiles) -> Span| {
        of.waits
            .as_ref()
            .map_or_else(|| NONE.to_owned(), |waits| words.span(pick(waits)))
    };
    let reads = of.plain.fresh + of.plain.stale();
    let hover = phrase("probe_screen.table.hover")
        .with("fresh", words.count(of.plain.fresh))
        .with("old", words.count(of.plain.old))
        .with("missing", words.count(of.plain.missing))
        .with("failed", words.count(of.plain.failed));
    let band = of.stale.map(|share| {
        phrase("probe_screen.table.band")
            .with("low", words.percent(share.low))
            .with("high", words.percent(share.high))
    });
    let band = band.map_or_else(String::new, |band| format!("\n{}", words.say(&band)));
    Row {
        name: name.to_owned(),
        color,
        sign: match of.stale {
            None => Sign::Unknown,
            Some(share) if share.value > 0.0 => Sign::Critical,
            Some(_) => Sign::Ok,
        },
        numbers: vec![
            of.stale
                .map_or_else(|| NONE.to_owned(), |share| words.percent(share.value)),
            words.count(reads),
            wait(|w| w.p50),
            wait(|w| w.p95),
            wait(|w| w.p99),
            words.count(of.read_from_source),
        ],
        hover: words.say(&hover) + &band,
    }
}

/// What the curve says, for one replica.
pub fn sentence(words: &Catalogue, name: &str, of: &ReplicaFigures) -> String {
    let reads = of.plain.fresh + of.plain.stale();
    let Some(share) = of.stale else {
        return words.say(&phrase("probe_screen.says.nothing").with("server", name));
    };
    let end = of.curve.last().map_or(Span::ZERO, |point| point.to);
    if of.plain.stale() == 0 {
        return words.say(
            &phrase("probe_screen.says.never")
                .with("server", name)
                .with("reads", words.count(reads))
                .with("high", words.percent(share.high)),
        );
    }
    if of.plain.fresh == 0 {
        return words.say(
            &phrase("probe_screen.says.always")
                .with("server", name)
                .with("reads", words.count(reads))
                .with("end", end),
        );
    }
    let said = |key: &'static str| {
        phrase(key)
            .with("server", name)
            .with("share", words.percent(share.value))
    };
    words.say(&match (of.fresh_from(0.5), of.fresh_from(0.05)) {
        (Some(half), Some(most)) if half > Span::ZERO && most > half => {
            said("probe_screen.says.half_and_most")
                .with("half", half)
                .with("most", most)
        }
        (_, Some(most)) => said("probe_screen.says.most").with("most", most),
        (_, None) => said("probe_screen.says.not_yet").with("end", end),
    })
}

/// A read that waited must never be stale, wherever it was read.
fn promise(words: &Catalogue, figures: &Figures) -> SignedLine {
    let sum = |pick: fn(&ReplicaFigures) -> u64| figures.replicas.iter().map(pick).sum::<u64>();
    let stale = sum(|of| of.waited.stale());
    let fresh = sum(|of| of.waited.fresh);
    let failed = sum(|of| of.waited.failed);
    let on_source = sum(|of| of.read_from_source);
    let (sign, key) = match (stale, fresh) {
        (1.., _) => (Sign::Critical, "probe_screen.promise.broken"),
        (0, 0) => (Sign::Unknown, "probe_screen.promise.nothing"),
        (0, _) if failed > 0 => (Sign::Warning, "probe_screen.promise.failed"),
        (0, _) => (Sign::Ok, "probe_screen.promise.kept"),
    };
    let text = phrase(key)
        .with("n", if stale > 0 { stale } else { fresh })
        .with("failed", words.count(failed))
        .with("source", words.count(on_source));
    SignedLine {
        sign,
        text: words.say(&text),
    }
}

fn percentiles(words: &Catalogue, of: &Percentiles) -> String {
    let text = phrase("probe_screen.waits.percentiles")
        .with("p50", of.p50)
        .with("p95", of.p95)
        .with("p99", of.p99)
        .with("longest", of.longest);
    words.say(&text)
}

fn outcomes(words: &Catalogue, of: &ReplicaFigures) -> Vec<String> {
    let list = of.outcomes.iter();
    list.map(|(kind, count)| {
        format!(
            "{}: {}",
            words.text(outcome_key(*kind)),
            words.count(*count)
        )
    })
    .collect()
}

pub fn table_ui(ui: &mut Ui, words: &Catalogue, figures: &FiguresData) {
    ui.label(theme::strong(words.text("probe_screen.table.title")));
    let dim = theme::palette(ui).dim;
    let headings: Vec<Cell<'_>> = figures.headings.iter().map(|h| Cell::new(h, dim)).collect();
    let name = Cell::new(words.text("probe_screen.table.replica"), dim);
    grid_row_ui(ui, None, name, &headings, "");
    for row in &figures.rows {
        let palette = theme::palette(ui);
        let mut cells: Vec<Cell<'_>> = row
            .numbers
            .iter()
            .map(|n| Cell::new(n, palette.text))
            .collect();
        if let Some(share) = cells.first_mut() {
            share.color = row.sign.color(palette);
        }
        let name = Cell::new(&row.name, palette.series(row.color));
        grid_row_ui(ui, Some((words, row.sign)), name, &cells, &row.hover);
    }
    ui.add_space(UNIT);
    for sentence in &figures.sentences {
        ui.add(Label::new(sentence).wrap());
    }
    ui.horizontal_top(|ui| {
        sign_ui(ui, words, figures.promise.sign);
        ui.add(Label::new(&figures.promise.text).wrap());
    });
}

#[derive(Clone, Copy)]
pub struct Cell<'a> {
    text: &'a str,
    color: Color32,
}

impl<'a> Cell<'a> {
    pub fn new(text: &'a str, color: Color32) -> Self {
        Cell { text, color }
    }
}

const ROW: f32 = 5.5 * UNIT;

/// A name left, numbers right-aligned in columns of the same width.
pub fn grid_row_ui(
    ui: &mut Ui,
    sign: Option<(&Catalogue, Sign)>,
    name: Cell<'_>,
    numbers: &[Cell<'_>],
    hover: &str,
) {
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
    let name_width = (width * 0.22).min(45.0 * UNIT);
    let each = (width - name_width) / numbers.len().max(1) as f32;
    let each = each.min(27.0 * UNIT);
    let cell = |ui: &mut Ui, from: f32, to: f32, layout: Layout, cell: Cell<'_>| {
        let place = Rect::from_min_max(pos2(from, rect.min.y), pos2(to, rect.max.y));
        let builder = UiBuilder::new().max_rect(place).layout(layout);
        ui.scope_builder(builder, |ui| {
            if let (Some((words, sign)), true) = (sign, from == rect.min.x) {
                sign_ui(ui, words, sign);
            }
            let text = RichText::new(cell.text).size(size::SMALL).color(cell.color);
            ui.add(Label::new(text).truncate());
        });
    };
    let left = Layout::left_to_right(Align::Center);
    cell(ui, rect.min.x, rect.min.x + name_width, left, name);
    for (n, number) in numbers.iter().enumerate() {
        let from = rect.min.x + name_width + each * n as f32;
        let right = Layout::right_to_left(Align::Center);
        cell(ui, from + 1.0, from + each, right, *number);
    }
    if !hover.is_empty() {
        response.on_hover_text(hover);
    }
}
