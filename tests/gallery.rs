//! Every widget on one sheet, in both themes and both languages: that each can be drawn, that no character is missing
//! from the fonts (the harness fails on one), that every control has a name, and that they do what they are for.
//!
//! The pictures are for looking at: `REPLICASCOPE_PICTURES=some/folder cargo test --test gallery` keeps them.

mod support;

use std::path::PathBuf;

use eframe::egui::accesskit::Role;
use eframe::egui::{self, Color32, Key, Theme, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use replicascope::model::profile::Environment;
use replicascope::model::time::Span;
use replicascope::ui::widgets::*;
use replicascope::ui::{fonts, theme};
use replicascope::words::{Catalogue, Language};
use support::soft_renderer::SoftRenderer;

const LOOKS: [(Theme, Language); 4] = [
    (Theme::Dark, Language::English),
    (Theme::Light, Language::English),
    (Theme::Dark, Language::SimplifiedChinese),
    (Theme::Light, Language::SimplifiedChinese),
];

#[test]
fn every_widget_can_be_drawn_in_both_themes_and_both_languages() {
    for (theme, language) in LOOKS {
        let mut harness = gallery(theme, language);
        let picture = harness.render().expect("a picture");
        keep(
            &picture,
            &format!("gallery-{}-{}", theme_name(theme), language.tag()),
        );
        let colors: std::collections::HashSet<_> = picture.pixels().map(|p| p.0).collect();
        assert!(colors.len() > 100, "the sheet is nearly empty");
        let background = theme_palette(theme).background;
        let corner = picture.get_pixel(10, picture.height() - 10).0;
        assert_eq!(corner, background.to_array(), "the theme is not in force");
    }
}

#[test]
fn the_same_sheet_gives_the_same_picture() {
    let picture = || {
        gallery(Theme::Dark, Language::English)
            .render()
            .expect("a picture")
    };
    assert!(picture() == picture());
}

#[test]
fn a_digit_brings_up_its_screen_unless_something_is_being_typed() {
    let mut harness = gallery(Theme::Dark, Language::English);
    harness.key_press(Key::Num3);
    harness.run();
    assert_eq!(harness.state().screen, 2);
    harness.get_by_label("Filter").focus();
    harness.run();
    harness.key_press(Key::Num1);
    harness.run();
    assert_eq!(harness.state().screen, 2);
}

#[test]
fn controls_are_pressed_by_name() {
    let mut harness = gallery(Theme::Dark, Language::English);
    harness.get_by_label("15 min").click();
    harness.get_by_label("Semi-sync tab").click();
    harness.get_by_label("Add a topology").click();
    harness.run();
    assert_eq!(harness.state().window, Span::from_secs(15 * 60));
    assert_eq!(harness.state().screen, 4);
    assert_eq!(harness.state().added, 1);
}

#[test]
fn a_heading_of_a_table_sorts_by_keyboard_too() {
    let mut harness = gallery(Theme::Dark, Language::English);
    let heading =
        |h: &Harness<'_, Sheet>| h.get_by_role_and_label(Role::ColumnHeader, "Lag").focus();
    heading(&harness);
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(
        harness.state().sorting,
        Sorting {
            column: 1,
            descending: true
        }
    );
}

#[test]
fn copying_says_so() {
    let mut harness = gallery(Theme::Dark, Language::English);
    harness.get_by_label_contains("Copy").click();
    harness.step();
    let copied = harness.output().platform_output.commands.iter().any(|command| {
        matches!(command, egui::OutputCommand::CopyText(text) if text == "SHOW REPLICA STATUS")
    });
    assert!(copied);
    harness.step();
    harness.get_by_label_contains("Copied");
}

// --- the sheet -------------------------------------------------------------------------------------------------------

struct Sheet {
    language: Language,
    screen: usize,
    window: Span,
    sorting: Sorting,
    filter: String,
    added: u32,
    toasts: Toasts,
}

fn gallery(theme: Theme, language: Language) -> Harness<'static, Sheet> {
    let mut toasts = Toasts::default();
    toasts.say(Sign::Ok, pick(language, "Profile saved", "配置已保存"));
    let sheet = Sheet {
        language,
        screen: 0,
        window: Span::from_secs(300),
        sorting: Sorting::by(1),
        filter: String::new(),
        added: 0,
        toasts,
    };
    let mut harness = Harness::builder()
        .with_size(vec2(1080.0, 1000.0))
        .with_theme(theme)
        .with_context_setup(|ctx| {
            fonts::install(ctx);
            theme::install(ctx);
        })
        .renderer(SoftRenderer::default())
        .build_ui_state(sheet_ui, sheet);
    harness.run_steps(4);
    harness
}

fn pick<'a>(language: Language, english: &'a str, chinese: &'a str) -> &'a str {
    match language {
        Language::English => english,
        Language::SimplifiedChinese => chinese,
    }
}

fn sheet_ui(ui: &mut Ui, sheet: &mut Sheet) {
    let words = Catalogue::of(sheet.language);
    egui::Panel::top("strip").show(ui, |ui| strip_ui(ui, sheet));
    egui::CentralPanel::default_margins().show(ui, |ui| {
        signs_ui(ui, sheet.language, words);
        ui.add_space(2.0 * theme::UNIT);
        controls_ui(ui, sheet, words);
        ui.add_space(2.0 * theme::UNIT);
        notice_part_ui(ui, sheet.language);
        ui.add_space(2.0 * theme::UNIT);
        cards_ui(ui, sheet.language, words);
        ui.add_space(2.0 * theme::UNIT);
        table_part_ui(ui, sheet, words);
    });
    sheet.toasts.ui(ui.ctx());
}

fn strip_ui(ui: &mut Ui, sheet: &mut Sheet) {
    let names = [
        ("Overview", "总览"),
        ("Server", "服务器"),
        ("Lag tab", "延迟"),
        ("Transactions", "事务"),
        ("Semi-sync tab", "半同步"),
        ("Probe", "探测"),
        ("Routing", "路由"),
        ("Events", "事件"),
        ("Lab", "实验室"),
    ];
    let tabs: Vec<Tab<'_, usize>> = names
        .iter()
        .enumerate()
        .map(|(screen, (en, zh))| Tab {
            screen,
            name: pick(sheet.language, en, zh),
        })
        .collect();
    tabs_ui(ui, &mut sheet.screen, &tabs);
}

fn signs_ui(ui: &mut Ui, language: Language, words: &Catalogue) {
    let title = pick(
        language,
        "db-r2 is 6.2 s behind",
        "db-r2 落后 6.2 秒：回放线程正在执行大事务",
    );
    ui.label(theme::title(title));
    ui.horizontal(|ui| {
        for sign in Sign::ALL {
            sign_word_ui(
                ui,
                sign,
                theme::colored(sign.word(words), sign.color(theme::palette(ui))),
            );
            ui.add_space(2.0 * theme::UNIT);
        }
        for sign in Sign::ALL {
            sign_ui(ui, words, sign);
        }
        for environment in Environment::ALL {
            environment_badge_ui(ui, words, environment);
        }
    });
}

fn controls_ui(ui: &mut Ui, sheet: &mut Sheet, words: &Catalogue) {
    let language = sheet.language;
    ui.horizontal(|ui| {
        window_segments_ui(ui, words, &mut sheet.window);
        ui.separator();
        let label = ui.label(theme::dim(ui, pick(language, "Filter", "筛选")));
        ui.add(egui::TextEdit::singleline(&mut sheet.filter).desired_width(120.0))
            .labelled_by(label.id);
        copy_button_ui(
            ui,
            words,
            pick(language, "Copy the SQL", "复制 SQL"),
            || "SHOW REPLICA STATUS".to_owned(),
        );
        let _ = ui.button(pick(language, "Test connection", "测试连接"));
        quiet_button_ui(ui, pick(language, "Show SQL", "查看 SQL"));
        primary_button_ui(ui, pick(language, "Write, then read", "写后读"));
    });
}

fn notice_part_ui(ui: &mut Ui, language: Language) {
    let text = pick(
        language,
        "No reading from db-r3a for 42 s; the last one is not shown as if it were live",
        "db-r3a 已 42 秒没有读数；旧值不会当作实时值显示",
    );
    notice_ui(
        ui,
        Sign::Warning,
        text,
        Some(pick(language, "Poll now", "立即轮询")),
    );
}

fn cards_ui(ui: &mut Ui, language: Language, words: &Catalogue) {
    let palette = theme::palette(ui);
    ui.columns(3, |columns| {
        let late = words.span_figure(Span::from_millis(6_200));
        Card::new()
            .edge(Edge::Left(palette.warning))
            .min_height(CARD)
            .show(&mut columns[0], |ui| {
                card_head_ui(
                    ui,
                    Sign::Warning,
                    "db-r2",
                    pick(language, "replica · 9.7.4", "副本 · 9.7.4"),
                );
                figure_ui(ui, &late, palette.warning);
                replica_ui(ui, language, words, palette.warning);
            });
        let long = words.span_figure(Span::from_secs(125));
        Card::new()
            .edge(Edge::Left(palette.critical))
            .min_height(CARD)
            .show(&mut columns[1], |ui| {
                card_head_ui(
                    ui,
                    Sign::Critical,
                    "db-r3",
                    pick(language, "replica · MariaDB 10.11", "副本 · MariaDB 10.11"),
                );
                figure_word_ui(ui, Sign::Unknown.word(words), palette.critical);
                ui.label(theme::note(
                    ui,
                    pick(
                        language,
                        "applier stopped by error 1062, 3 min 20 s ago",
                        "回放因错误 1062 停止，3 分 20 秒前",
                    ),
                ));
                figure_ui(ui, &long, palette.text);
                ui.label(theme::mono("8f0f…9562:1-18204"));
            });
        Card::new()
            .edge(Edge::Top(palette.ok))
            .min_height(CARD)
            .show(&mut columns[2], |ui| {
                let title = pick(language, "No topology yet", "还没有拓扑");
                let text = pick(
                    language,
                    "Add the servers you want to watch, or start the lab to see how it works.",
                    "添加要监控的服务器，或启动实验室先看看效果。",
                );
                if empty_ui(
                    ui,
                    title,
                    text,
                    Some(pick(language, "Add a topology", "添加拓扑")),
                ) {
                    ui.data_mut(|data| data.insert_temp(egui::Id::unique("added"), true));
                }
            });
    });
}

const CARD: f32 = 230.0;

fn replica_ui(ui: &mut Ui, language: Language, words: &Catalogue, remark_color: Color32) {
    let ago = words.ago(Span::from_millis(100));
    let how = pick(language, "± 0.1 s · GTID marks", "± 0.1 秒 · GTID 标记");
    ui.label(theme::note(ui, format!("{how} · {ago}")));
    ui.separator();
    ui.columns(3, |lamps| {
        lamp_ui(
            &mut lamps[0],
            Sign::Ok,
            pick(language, "Threads", "线程"),
            pick(language, "running", "运行中"),
            "",
        );
        lamp_ui(
            &mut lamps[1],
            Sign::Warning,
            pick(language, "Lag", "延迟"),
            pick(language, "over 3 s for 3 s", "超过 3 秒"),
            "",
        );
        lamp_ui(
            &mut lamps[2],
            Sign::NotApplicable,
            pick(language, "Semi-sync", "半同步"),
            pick(language, "not configured", "未配置"),
            "",
        );
    });
    ui.separator();
    let source = pick(
        language,
        "performance_schema, 0.1 s ago",
        "performance_schema，0.1 秒前",
    );
    let late = words.span(Span::from_millis(6_200));
    fact_ui(
        ui,
        Fact {
            name: pick(language, "GTID marks", "GTID 标记"),
            value: &late,
            source,
            ..Fact::default()
        },
    );
    let by_server = words.span(Span::from_secs(11));
    fact_ui(
        ui,
        Fact {
            name: "Seconds_Behind_Source",
            value: &by_server,
            remark: Some((pick(language, "contradicted", "不可信"), remark_color)),
            source,
            ..Fact::default()
        },
    );
}

fn table_part_ui(ui: &mut Ui, sheet: &mut Sheet, words: &Catalogue) {
    let language = sheet.language;
    let columns = [
        Column::words(pick(language, "Server", "服务器"), 200.0).rest(),
        Column::numbers(pick(language, "Lag", "延迟"), 110.0),
        Column::numbers(pick(language, "Transactions", "事务"), 130.0),
        Column::numbers(pick(language, "Stale reads", "旧读"), 130.0),
        Column::numbers(pick(language, "Received", "接收"), 130.0),
    ];
    let mut sorting = sheet.sorting;
    let table = Table {
        name: "servers",
        columns: &columns,
        rows: 1_000,
        selected: Some(1),
    };
    table_ui(ui, table, &mut sorting, |ui, row, column| {
        let n = row as u64 + 1;
        match column {
            0 => drop(sign_word_ui(ui, Sign::ALL[row % 6], format!("db-r{n}"))),
            1 => drop(ui.label(words.span(Span::from_micros(43 * (7 * n).pow(3) as i64)))),
            2 => drop(ui.label(words.count(n.pow(5)))),
            3 => drop(ui.label(words.percent(n as f64 / 700.0))),
            _ => drop(ui.label(words.bytes_rate(n.pow(6) as f64))),
        }
    });
    sheet.sorting = sorting;
    if ui
        .data_mut(|data| data.remove_temp::<bool>(egui::Id::unique("added")))
        .is_some()
    {
        sheet.added += 1;
    }
}

// --- pictures --------------------------------------------------------------------------------------------------------

fn theme_name(theme: Theme) -> &'static str {
    match theme {
        Theme::Dark => "dark",
        Theme::Light => "light",
    }
}

fn theme_palette(theme: Theme) -> &'static theme::Palette {
    theme::Palette::of(theme == Theme::Dark)
}

fn keep(picture: &image::RgbaImage, name: &str) {
    let folder = std::env::var_os("REPLICASCOPE_PICTURES").map_or_else(
        || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    picture
        .save(folder.join(format!("{name}.png")))
        .expect("a saved picture");
}
