//! The suite `bigtable`.

use crate::common::{measured_or_explained, row, run_with};

/// Every server and every program once: each of each would take twice the time.
const SUBJECTS: &str = "recension,hyper,lighttpd-static,lighttpd-fcgi-c,lighttpd-cgi-c,lighttpd-cgi-perl,\
    lighttpd-scgi-recension,lighttpd-cgi-recension,nginx-static,nginx-fcgi-c,nginx-cgi-python,nginx-cgi-haskell,\
    nginx-cgi-haskell-cgi,nginx-fcgi-recension,nginx-scgi-recension,nginx-cgi-recension,warp,snap,happstack,yesod,\
    hyper-sailfish,hyper-maud,hyper-askama,actix-sailfish,ntex-sailfish,python-http";

#[test]
fn every_maker_of_pages_that_is_here_is_measured_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run_with(dir.path(), "bigtable", &["--subjects", SUBJECTS]);
    let subjects = report["subjects"].as_array().unwrap().clone();
    let named = |name: &str| subjects.iter().find(|subject| subject["name"] == name).unwrap();
    // What is asked of some only: whoever has a reason is not here.
    for (subject, operation) in [
        ("recension", "page_kept"),
        ("recension", "escaped"),
        ("recension", "rows_html"),
        ("recension", "rows_json"),
        ("recension", "rows_csv"),
        ("nginx-fcgi-recension", "page_kept"),
        ("nginx-scgi-recension", "escaped"),
        ("lighttpd-cgi-recension", "cgi_process"),
        ("lighttpd-cgi-c", "cgi_process"),
        ("nginx-cgi-recension", "escaped"),
        ("hyper-maud", "escaped"),
        ("python-http", "escaped"),
        ("python-http", "rows_json"),
        ("nginx-fcgi-c", "page_to_static"),
        ("lighttpd-cgi-perl", "page_to_static"),
    ] {
        if named(subject)["reason"].is_null() {
            let row = row(&report, operation, subject);
            assert!(row["median"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
    // The floor is this program: it is always here.
    assert!(row(&report, "page", "hyper")["median"].as_f64().unwrap() > 0.0);
    // Programs that nginx has started, that have ended, and that nobody waited for: no Python starts in less.
    if named("nginx-cgi-python")["reason"].is_null() {
        let row = row(&report, "page_cpu", "nginx-cgi-python");
        if row["note"].as_str().unwrap().contains("control group (") {
            assert!(row["median"].as_f64().unwrap() > 2e6, "{row}");
        }
    }
    measured_or_explained(&report, &["page", "first_byte", "page_memory"]);
}
