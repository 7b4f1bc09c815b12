//! Records a run in the repository. Its page is `docs/benchmarks/SUITE.md`, and the digest for the summary is beside
//! it, as `SUITE.json`. The summary in BENCHMARKS.md and its picture are made anew from all digests. Nobody edits
//! generated files.

use std::fs;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::headlines::{HEADLINES, headline};
use super::model::Report;
use super::{markdown, picture, summary};
use crate::error::{LabError, Result};

/// The page of all suites.
const SUMMARY: &str = "BENCHMARKS.md";
/// Between these its generated part is.
const MARKERS: [&str; 2] = ["<!-- lab:summary -->", "<!-- /lab:summary -->"];
/// The picture, beside the suites' pages.
const PICTURE: &str = "summary.svg";

fn folder(root: &Path) -> PathBuf {
    root.join("docs/benchmarks")
}

/// Records a run in the repository at `root`.
///
/// # Errors
/// [`LabError::Report`] if the folder is not our repository, or if the suite is not recorded.
pub fn record(root: &Path, report: &Report) -> Result<()> {
    if headline(&report.suite).is_none() {
        return Err(LabError::Report {
            what: format!("the suite {} is not recorded: its figures are of nobody else's workload", report.suite),
        });
    }
    // The summary is read first: if the folder is not our repository, it is left as it was.
    read_summary(root)?;
    let folder = folder(root);
    fs::create_dir_all(&folder).map_err(LabError::io(format!("making {}", folder.display())))?;
    write(&folder.join(format!("{}.json", report.suite)), &Digest::of(report).render()?)?;
    write(&folder.join(format!("{}.md", report.suite)), &markdown::render(report))?;
    summarize(root)
}

/// Makes the summary and its picture again of what is recorded.
///
/// # Errors
/// As of [`record`].
pub fn summarize(root: &Path) -> Result<()> {
    let (text, digests) = (read_summary(root)?, recorded(root)?);
    let in_order = summary::in_order(&digests);
    write(&folder(root).join(PICTURE), &picture::render(&in_order))?;
    write(&root.join(SUMMARY), &replaced(&text, &summary::render(&in_order), root)?)
}

fn recorded(root: &Path) -> Result<Vec<Digest>> {
    let files = HEADLINES.iter().map(|headline| folder(root).join(format!("{}.json", headline.suite)));
    files.filter(|file| file.is_file()).map(|file| Digest::read(&file)).collect()
}

fn read_summary(root: &Path) -> Result<String> {
    let path = root.join(SUMMARY);
    let text = fs::read_to_string(&path).map_err(LabError::io(format!("reading {}", path.display())))?;
    replaced(&text, "", root)?;
    Ok(text)
}

/// The page with another generated part.
fn replaced(text: &str, summary: &str, root: &Path) -> Result<String> {
    let [begin, end] = MARKERS;
    let missing = || LabError::Report {
        what: format!(
            "{} has no lines {begin} and {end} for the summary to go between; add them",
            root.join(SUMMARY).display()
        ),
    };
    let (before, rest) = text.split_once(begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{}\n{end}{after}", summary.trim_end()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(LabError::io(format!("writing {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::report;
    use crate::subjects::OURS;

    const PAGE: &str = "# Head\n<!-- lab:summary -->\nold\n<!-- /lab:summary -->\ntail\n";

    #[test]
    fn a_run_is_recorded_in_its_own_page_and_in_the_summary() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(SUMMARY), PAGE).unwrap();
        record(dir.path(), &report("engine", &[(OURS, "T2", 100.0), ("a", "T2", 50.0)])).unwrap();
        record(dir.path(), &report("http", &[(OURS, "T2", 100.0), ("a", "T2", 25.0)])).unwrap();
        let page = at(SUMMARY);
        assert!(page.starts_with("# Head\n<!-- lab:summary -->\n") && page.ends_with("-->\ntail\n"), "{page}");
        assert!(!page.contains("old") && page.contains("a 50.0 ns") && page.contains("a 25.0 ns"), "{page}");
        assert!(at("docs/benchmarks/engine.md").starts_with("# Suite `engine`"));
        assert!(at("docs/benchmarks/summary.svg").starts_with("<svg"));
        // A second time changes nothing.
        summarize(dir.path()).unwrap();
        assert_eq!(at(SUMMARY), page);
    }

    #[test]
    fn what_is_no_repository_of_ours_is_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SUMMARY), "# Head\n").unwrap();
        let error = record(dir.path(), &report("engine", &[(OURS, "T2", 100.0)])).unwrap_err().to_string();
        assert!(error.contains("lab:summary") && error.contains(SUMMARY), "{error}");
        let error = record(dir.path(), &report("mine", &[(OURS, "T2", 100.0)])).unwrap_err().to_string();
        assert!(error.contains("mine is not recorded"), "{error}");
        assert!(!dir.path().join("docs").exists());
    }

    /// The page of this repository is what is recorded in it: nobody has edited the one without the other.
    #[test]
    fn the_summary_of_this_repository_is_what_is_recorded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let digests = recorded(&root).unwrap();
        // A suite that was never measured on a quiet machine has no figures here; every other one is in the summary.
        assert!(digests.len() >= 9 && digests.len() <= HEADLINES.len(), "a suite is not recorded");
        let in_order = summary::in_order(&digests);
        let text = read_summary(&root).unwrap();
        let how = "`recension-lab summary` makes it again";
        assert!(replaced(&text, &summary::render(&in_order), &root).unwrap() == text, "{SUMMARY}: {how}");
        let picture = fs::read_to_string(folder(&root).join(PICTURE)).unwrap();
        assert!(picture == picture::render(&in_order), "{PICTURE}: {how}");
    }
}
