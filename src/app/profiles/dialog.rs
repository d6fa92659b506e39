//! The system's file dialog, on a thread of its own since it returns when the person has chosen. Where there is no portal
//! and no `zenity` it returns at once with nothing, as if it had been cancelled.

use crossbeam_channel::Sender;

use super::disk::DiskJob;
use super::{Answer, Report};
use crate::model::lab::Recipe;
use crate::ui::action::{ExportFormat, FilePurpose};
use crate::ui::profiles::News;

pub(super) fn start(purpose: FilePurpose, report: Report, disk: Sender<DiskJob>) {
    let (failed, told) = (purpose.clone(), report.clone());
    let run = move || {
        let path = choose(&purpose);
        if let (FilePurpose::Export(_), Some(path)) = (&purpose, &path) {
            // the dialog has asked whether it may be replaced
            let _ = disk.try_send(DiskJob::MayReplace(path.clone()));
        }
        // the desk may have closed meanwhile; it must not wait for this thread's end of the channel
        drop(disk);
        report.tell(Answer::DialogClosed);
        report.news(News::FileChosen { purpose, path });
    };
    if std::thread::Builder::new()
        .name("file dialog".into())
        .spawn(run)
        .is_err()
    {
        let path = None;
        told.tell(Answer::DialogClosed);
        told.news(News::FileChosen {
            purpose: failed,
            path,
        });
    }
}

fn choose(purpose: &FilePurpose) -> Option<std::path::PathBuf> {
    let dialog = rfd::FileDialog::new();
    match purpose {
        FilePurpose::Import => dialog.add_filter("TOML", &["toml"]).pick_file(),
        FilePurpose::Export(_) => dialog
            .add_filter("TOML", &["toml"])
            .set_file_name("replicascope-profiles.toml")
            .save_file(),
        FilePurpose::ProbeResult(ExportFormat::Csv) => dialog
            .add_filter("CSV", &["csv"])
            .set_file_name("replicascope-probe.csv")
            .save_file(),
        FilePurpose::ProbeResult(ExportFormat::Json) => dialog
            .add_filter("JSON", &["json"])
            .set_file_name("replicascope-probe.json")
            .save_file(),
        FilePurpose::Comparison(ExportFormat::Csv) => dialog
            .add_filter("CSV", &["csv"])
            .set_file_name("replicascope-rules.csv")
            .save_file(),
        FilePurpose::Comparison(ExportFormat::Json) => dialog
            .add_filter("JSON", &["json"])
            .set_file_name("replicascope-rules.json")
            .save_file(),
        FilePurpose::Records(ExportFormat::Csv) => dialog
            .add_filter("CSV", &["csv"])
            .set_file_name("replicascope-requests.csv")
            .save_file(),
        FilePurpose::Records(ExportFormat::Json) => dialog
            .add_filter("JSON", &["json"])
            .set_file_name("replicascope-requests.json")
            .save_file(),
        FilePurpose::Recipe(recipe @ Recipe::Compose) => dialog
            .add_filter("YAML", &["yaml", "yml"])
            .set_file_name(recipe.file_name())
            .save_file(),
        FilePurpose::Recipe(recipe @ Recipe::Dbdeployer) => dialog
            .add_filter("Shell", &["sh"])
            .set_file_name(recipe.file_name())
            .save_file(),
        FilePurpose::LabServer | FilePurpose::Field(_) => dialog.pick_file(),
    }
}
