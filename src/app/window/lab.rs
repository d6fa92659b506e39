//! The lab as the window runs it: started and stopped on the person's word, watched like any topology while it stands.

use std::path::PathBuf;

use eframe::egui::Context;

use super::App;
use crate::app::lab::{LabNews, secret_key};
use crate::model::lab::LabPlan;
use crate::model::lesson::LessonOrder;
use crate::model::profile::{TopologyId, TopologyProfile};
use crate::model::secret::Secret;
use crate::ui::action::{Action, Screen};
use crate::ui::widgets::Sign;

impl App {
    /// Takes what concerns the lab; the rest comes back.
    pub(super) fn perform_lab(&mut self, ctx: &Context, action: Action) -> Option<Action> {
        match action {
            Action::StartLab { plan, program } => {
                self.start_lab(plan, program);
            }
            Action::ChooseLab => {
                self.shell.screen = Screen::Lab;
                self.screens.choose_lab();
                self.lab.look_for_servers(None);
            }
            Action::StartChosenLab => {
                let (plan, program) = self.screens.chosen_lab();
                self.start_lab(plan, program);
            }
            Action::AskToStopLab => {
                self.shell.screen = Screen::Lab;
                self.screens.ask_to_stop_lab();
            }
            Action::ShowLessons => {
                self.shell.screen = Screen::Lab;
                self.screens.show_lessons();
            }
            Action::WriteLabDown(plan) => self.lab.write_down(&plan),
            Action::SaveRecipe {
                recipe,
                to,
                may_replace,
            } => self.lab.save(recipe, to, may_replace),
            Action::Lab(order) => self.lab.send(order),
            Action::Lesson(order) => self.obey_lesson(ctx, order),
            Action::LookForServers(program) => self.lab.look_for_servers(program),
            other => return Some(other),
        }
        None
    }

    /// Its first picture is the overview, unless the person began on the lab's own screen.
    pub(super) fn start_lab(&mut self, plan: LabPlan, program: Option<PathBuf>) {
        self.overview_follows = self.shell.screen != Screen::Lab;
        self.shell.screen = Screen::Lab;
        self.screens.show_lab();
        self.lab.start(plan, program);
    }

    pub(super) fn hear_lab(&mut self, ctx: &Context) {
        for news in self.lab.take_in() {
            match news {
                LabNews::Ready { profile, secret } => self.lab_is_ready(ctx, *profile, secret),
                LabNews::Gone(topology) => self.lab_is_gone(&topology),
                LabNews::Failed(trouble) => self.say(Sign::Critical, &trouble.what),
                LabNews::Faults(topology, episodes) => {
                    self.conductor.store.tell_episodes(&topology, &episodes);
                }
            }
        }
    }

    fn lab_is_ready(&mut self, ctx: &Context, profile: TopologyProfile, secret: Secret) {
        let topology = profile.id.clone();
        self.desk.lend(secret_key(&topology), secret);
        self.desk.adopt(profile);
        self.profiles = self.desk.profiles().to_vec();
        self.open(&topology);
        self.screens.lab_begins();
        if self.overview_follows {
            self.shell.screen = Screen::Overview;
        }
        if let Some(lesson) = self.teaching.begins_with_lab.take() {
            self.obey_lesson(ctx, LessonOrder::Begin(lesson));
        }
    }

    fn lab_is_gone(&mut self, topology: &TopologyId) {
        self.close_topology(topology);
        self.desk.dismiss(topology);
        self.profiles = self.desk.profiles().to_vec();
        if self.topology.as_ref() == Some(topology) {
            self.topology = self.profiles.first().map(|p| p.id.clone());
            self.server = None;
        }
    }
}
