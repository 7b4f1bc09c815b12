//! The paths of the table of routes, as `/_openapi.json` names them.

/// A path of the table, as the description names it.
pub(crate) fn described(path: &str) -> String {
    let whole = [
        ("/_node/_local/_config/chttpd/port", "/_node/{node}/_config/{section}/{setting}"),
        ("/_node/_local/_config/vhosts/b", "/_node/{node}/_config/{section}/{setting}"),
        ("/_node/_local/_config", "/_node/{node}/_config"),
        ("/_node/_local/_prometheus", "/_node/{node}/_prometheus"),
        ("/_scheduler/jobs/none", "/_scheduler/jobs/{job}"),
        ("/_scheduler/docs/_replicator/none", "/_scheduler/docs/_replicator/{id}"),
        ("/_tokens/none", "/_tokens/{token}"),
        ("/_branches/none", "/_branches/{branch}"),
        ("/_tags/none", "/_tags/{tag}"),
        ("/{db}/_topics/t", "/{db}/_topics/{topic}"),
        ("/{db}/_consumers/c", "/{db}/_consumers/{consumer}"),
        ("/{db}/_consumers/c/fetch", "/{db}/_consumers/{consumer}/fetch"),
        ("/{db}/_consumers/c/acknowledge", "/{db}/_consumers/{consumer}/acknowledge"),
        ("/{db}/_consumers/c/give_back", "/{db}/_consumers/{consumer}/give_back"),
        ("/{db}/a/none", "/{db}/{id}/{attachment}"),
        ("/{db}/a/_history", "/{db}/{id}/_history"),
        ("/{db}/_design/a", "/{db}/_design/{name}"),
        ("/{db}/_partition/a/_design/a/_view/v", "/{db}/_partition/{partition}/_design/{name}/_view/{view}"),
        ("/{db}/_design/a/_view/v", "/{db}/_design/{name}/_view/{view}"),
        ("/{db}/_design/a/_view/v/queries", "/{db}/_design/{name}/_view/{view}/queries"),
        ("/{db}/_design/a/_info", "/{db}/_design/{name}/_info"),
        ("/{db}/_design/a/_show/s/a", "/{db}/_design/{name}/_show/{function}/{id}"),
        ("/{db}/_design/a/_list/l/v", "/{db}/_design/{name}/_list/{function}/{view}"),
        ("/{db}/_design/a/_update/u", "/{db}/_design/{name}/_update/{function}"),
        ("/{db}/_design/a/_update/u/a", "/{db}/_design/{name}/_update/{function}/{id}"),
        ("/{db}/_design/a/_rewrite/x", "/{db}/_design/{name}/_rewrite/{path}"),
        ("/{db}/_local/a", "/{db}/_local/{name}"),
        ("/{db}/_local/b", "/{db}/_local/{name}"),
        ("/{db}/_partition/a", "/{db}/_partition/{partition}"),
        ("/{db}/_index/a/json/i", "/{db}/_index/{design}/json/{name}"),
        ("/{db}/_index/a/text/i", "/{db}/_index/{design}/text/{name}"),
        ("/{db}/_partition/a/_find", "/{db}/_partition/{partition}/_find"),
        ("/{db}/_partition/a/_explain", "/{db}/_partition/{partition}/_explain"),
        ("/{db}/a", "/{db}/{id}"),
    ];
    whole.iter().find(|(own, _)| *own == path).map_or(path, |(_, named)| named).to_owned()
}
