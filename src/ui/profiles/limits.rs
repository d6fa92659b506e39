//! What counts as late, how often we ask, and which table the heartbeat is read from.

use eframe::egui::Ui;

use super::draft::HeartbeatPreset;
use super::fields::{Form, SpanUnit, WIDE, checkbox_ui, field_width, span_ui};
use crate::model::profile::{
    FieldName, HeartbeatLayout, HeartbeatTable, Intervals, StampZone, Thresholds,
};
use crate::model::time::Span;

pub fn thresholds_ui(ui: &mut Ui, form: &mut Form<'_>, t: &mut Thresholds) {
    let s = SpanUnit::Seconds;
    form.span_row_ui(
        ui,
        "form.lag_warning",
        FieldName::LagWarning,
        &mut t.lag_warning,
        s,
    );
    form.span_row_ui(
        ui,
        "form.lag_critical",
        FieldName::LagCritical,
        &mut t.lag_critical,
        s,
    );
    form.count_row_ui(
        ui,
        "form.consecutive",
        FieldName::Consecutive,
        &mut t.consecutive,
        "",
    );
    form.note_ui(ui, form.text("form.consecutive.note"));
    form.count_row_ui(
        ui,
        "form.clear_at",
        FieldName::ClearAt,
        &mut t.clear_at_percent,
        " %",
    );
    form.note_ui(ui, form.text("form.clear_at.note"));
    let long = &mut t.long_transaction;
    form.span_row_ui(
        ui,
        "form.long_transaction",
        FieldName::LongTransaction,
        long,
        s,
    );
    form.span_row_ui(
        ui,
        "form.clock_offset",
        FieldName::ClockOffset,
        &mut t.clock_offset,
        s,
    );
}

pub fn intervals_ui(ui: &mut Ui, form: &mut Form<'_>, intervals: &mut Intervals) {
    let (poll, mark) = (&mut intervals.poll, &mut intervals.mark);
    form.span_row_ui(
        ui,
        "form.poll",
        FieldName::PollInterval,
        poll,
        SpanUnit::Seconds,
    );
    form.span_row_ui(
        ui,
        "form.mark",
        FieldName::MarkInterval,
        mark,
        SpanUnit::Millis,
    );
    form.note_ui(ui, form.text("form.mark.note"));
}

const PRESETS: [(HeartbeatPreset, &str); 6] = [
    (HeartbeatPreset::None, "form.heartbeat.none"),
    (HeartbeatPreset::Own, "form.heartbeat.own"),
    (HeartbeatPreset::ReplHeartbeat, "form.heartbeat.repl"),
    (HeartbeatPreset::PtHeartbeat, "form.heartbeat.pt"),
    (HeartbeatPreset::Blip, "form.heartbeat.blip"),
    (HeartbeatPreset::Other, "form.heartbeat.other"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum LayoutKind {
    Single,
    PerWriter,
    Appended,
}

const LAYOUTS: [(LayoutKind, &str); 3] = [
    (LayoutKind::Single, "form.heartbeat.single"),
    (LayoutKind::PerWriter, "form.heartbeat.per_writer"),
    (LayoutKind::Appended, "form.heartbeat.appended"),
];

const ZONES: [(StampZone, &str); 2] = [
    (StampZone::Utc, "form.heartbeat.utc"),
    (StampZone::Local, "form.heartbeat.local"),
];

pub fn heartbeat_ui(
    ui: &mut Ui,
    form: &mut Form<'_>,
    preset: &mut HeartbeatPreset,
    heartbeat: &mut Option<HeartbeatTable>,
) {
    if form.choice_row_ui(ui, "form.heartbeat.table_of", preset, &PRESETS) {
        *heartbeat = preset.table(heartbeat.as_ref());
    }
    form.note_ui(ui, form.text("form.heartbeat.note"));
    let Some(table) = heartbeat else { return };
    let before = table.clone();
    form.text_row_ui(
        ui,
        "form.heartbeat.schema",
        FieldName::HeartbeatSchema,
        &mut table.schema,
        "",
    );
    form.text_row_ui(
        ui,
        "form.heartbeat.name",
        FieldName::HeartbeatTable,
        &mut table.table,
        "",
    );
    let column = &mut table.time_column;
    form.text_row_ui(
        ui,
        "form.heartbeat.column",
        FieldName::HeartbeatTimeColumn,
        column,
        "",
    );
    layout_ui(ui, form, &mut table.layout);
    form.choice_row_ui(ui, "form.heartbeat.zone", &mut table.zone, &ZONES);
    form.note_ui(ui, form.text("form.heartbeat.zone.note"));
    interval_ui(ui, form, &mut table.interval);
    if before != *table {
        *preset = HeartbeatPreset::of(Some(table));
    }
}

fn layout_ui(ui: &mut Ui, form: &mut Form<'_>, layout: &mut HeartbeatLayout) {
    let mut kind = match layout {
        HeartbeatLayout::Single => LayoutKind::Single,
        HeartbeatLayout::PerWriter { .. } => LayoutKind::PerWriter,
        HeartbeatLayout::Appended => LayoutKind::Appended,
    };
    if form.choice_row_ui(ui, "form.heartbeat.layout", &mut kind, &LAYOUTS) {
        *layout = match kind {
            LayoutKind::Single => HeartbeatLayout::Single,
            LayoutKind::Appended => HeartbeatLayout::Appended,
            LayoutKind::PerWriter => HeartbeatLayout::PerWriter {
                writer_column: "server_id".to_owned(),
                pinned_writer: None,
            },
        };
    }
    if let HeartbeatLayout::PerWriter {
        writer_column,
        pinned_writer,
    } = layout
    {
        let name = FieldName::HeartbeatWriterColumn;
        form.text_row_ui(ui, "form.heartbeat.writer_column", name, writer_column, "");
        pinned_ui(ui, form, pinned_writer);
    }
}

fn pinned_ui(ui: &mut Ui, form: &mut Form<'_>, pinned: &mut Option<String>) {
    let mut text = pinned.clone().unwrap_or_default();
    form.row_ui(ui, "form.heartbeat.pinned", |form, ui, id| {
        let hint = form.text("form.heartbeat.pinned.hint").to_owned();
        let field = eframe::egui::TextEdit::singleline(&mut text)
            .hint_text(hint)
            .desired_width(field_width(ui, WIDE));
        if ui.add(field).labelled_by(id).changed() {
            *pinned = (!text.is_empty()).then(|| text.clone());
        }
    });
}

fn interval_ui(ui: &mut Ui, form: &mut Form<'_>, interval: &mut Option<Span>) {
    form.row_ui(ui, "form.heartbeat.interval", |form, ui, id| {
        let mut is_given = interval.is_some();
        let measured = form.text("form.heartbeat.interval.given");
        if checkbox_ui(ui, &mut is_given, measured) {
            *interval = is_given.then(|| Span::from_secs(1));
        }
        if let Some(interval) = interval {
            span_ui(ui, form.words, interval, SpanUnit::Seconds).labelled_by(id);
        }
    });
    form.problem_ui(ui, FieldName::HeartbeatInterval);
}
