//! The indexes of a database, and how a query would be carried out.

use recension::document::{IndexState, Query};

use super::filter;
use super::frame::Frame;
use crate::answer::Answer;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::value::whole;
use crate::request::{Request, at_its_moment};
use crate::route::encode;

/// `/_utils/{db}/indexes`
pub(super) async fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (at, asked) = (database.opened().clone(), filter::parsed(&text)?);
    let explained = request.app.streams.read(move || {
        let plan = asked.map(|selector| at.explain(&Query::new().selecting(selector))).transpose()?;
        Ok((plan, at.indexes()))
    });
    let (plan, indexes) = explained.await?;
    let mut frame = Frame::begin(request, session, "Indexes", Some(db), "Indexes", true);
    let html = &mut frame.html;
    html.tag("<div class=\"wide\" role=\"region\" aria-label=\"Indexes\" tabindex=\"0\"><table><thead><tr>");
    html.tag("<th scope=\"col\">Name</th><th scope=\"col\">On</th><th scope=\"col\">State</th></tr></thead><tbody>\n");
    html.tag("<tr><th scope=\"row\">ids</th><td><code>_id</code></td><td>always there</td></tr>\n");
    for index in &indexes {
        html.tag("<tr><th scope=\"row\"><bdi>").text(&index.spec.name).tag("</bdi></th><td><code>");
        html.text(index.spec.to_string()).tag("</code></td><td>");
        html.tag(if index.state == IndexState::Building { "is being built" } else { "ready" }).tag("</td></tr>\n");
    }
    html.tag("</tbody></table></div>\n<h2>How would a query go?</h2>\n");
    html.tag("<form class=\"filter\" method=\"get\"><label class=\"long\">Filter <input type=\"search\" name=\"q\" ");
    html.tag("data-filter placeholder=\"population &gt; 1000000 and country = PT\" value=\"").text(&text);
    html.tag("\"></label><button class=\"primary\">Explain</button></form>\n");
    if let Some(plan) = plan {
        html.tag("<p class=\"plan\">").text(plan.summary()).tag("</p>\n");
        if plan.index.is_none() && plan.union.is_empty() {
            html.tag("<p class=\"advice\">No index serves it: every document is read. An index on a member that the ");
            html.tag("filter bounds would help.</p>\n");
        }
        if !plan.alternatives.is_empty() {
            html.tag("<table><caption>Other ways</caption><thead><tr><th scope=\"col\">Index</th>");
            html.tag("<th scope=\"col\" class=\"number\">Rows, about</th><th scope=\"col\" class=\"number\">Cost</th>");
            html.tag("<th scope=\"col\">Why not</th></tr></thead><tbody>\n");
            for way in &plan.alternatives {
                let number = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number:.0}"));
                html.tag("<tr><th scope=\"row\">").text(way.index.as_deref().unwrap_or("every document"));
                html.tag("</th><td class=\"number\">").text(number(way.rows)).tag("</td><td class=\"number\">");
                html.text(number(way.cost)).tag("</td><td>");
                html.text(way.rejected.as_deref().unwrap_or("dearer")).tag("</td></tr>\n");
            }
            html.tag("</tbody></table>\n");
        }
        html.tag("<details><summary>All of the plan</summary>");
        whole(&plan.to_json(), html);
        html.tag("</details>\n");
    }
    html.tag("<details class=\"new\"><summary>New index</summary><form data-send=\"POST\" data-to=\"");
    html.text(format!("/{}/_index", encode(db))).tag("\" data-then=\"").text(request.head.uri.path());
    html.tag("\"><label>JSON <textarea name=\"body\" rows=\"6\" spellcheck=\"false\">");
    html.tag("{\"index\": {\"fields\": [\"name\"]}, \"type\": \"json\"}</textarea></label>");
    html.tag("<p><button class=\"primary\">Create</button></p></form></details>\n");
    Ok(frame.end())
}
