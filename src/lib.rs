//! Replicascope: see what your replicas are really serving.
//!
//! Threads report **events**; one **store** remembers them; **health** judges what is remembered; **screens** draw it;
//! the person answers with **actions**; `app` carries actions back to the threads.

pub mod model;

pub mod health;
pub mod lag;
pub mod link;
pub mod settings;
pub mod words;

pub mod monitor;
pub mod mysql;
pub mod store;

pub mod lab;

pub mod ui;

pub mod app;
