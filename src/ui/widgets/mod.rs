//! The small parts every screen is built of. They draw finished words, know nothing of servers, and answer with what
//! the person did; colours and distances come from `theme`.
//!
//! Each has a name a screen reader can say and a test can find.

mod badge;
mod buttons;
mod card;
mod empty;
mod fact;
mod figure;
mod lamp;
mod notice;
mod segments;
mod sign;
mod table;
mod tabs;

pub use badge::{BadgeTone, badge_ui, badge_width, environment_badge_ui};
pub use buttons::{answers_enter, copy_button_ui, entered, primary_button_ui, quiet_button_ui};
pub use card::{Card, Edge, card_head_ui};
pub use empty::empty_ui;
pub use fact::{Fact, fact_ui};
pub use figure::{figure_ui, figure_word_ui};
pub use lamp::lamp_ui;
pub use notice::{Toasts, notice_ui};
pub use segments::{segments_ui, time_windows, window_segments_ui};
pub use sign::{Sign, paint_sign, sign_ui, sign_word_ui};
pub use table::{Column, Sorting, Table, TableInput, table_ui};
pub use tabs::{Tab, tabs_ui};
