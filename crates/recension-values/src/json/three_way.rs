//! Merging two texts that came from one: member by member. What only one of them changed is taken, also inside of
//! members and of arrays whose elements have an identity; what both changed differently is a conflict. Pure.

use super::outline::{Kind, Outline, View};
use super::same::{Numbers, same};
use super::{Pointer, quote};
use crate::error::Result;

/// Which of the two texts wins where both changed the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Preferred {
    /// The first.
    #[default]
    Ours,
    /// The second.
    Theirs,
}

/// How texts are merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeRules {
    /// Members by which elements of arrays are recognised; the first that all elements have.
    pub identities: Vec<String>,
    /// Places of numbers that count: both differences are added. `*` is any member or element.
    pub counters: Vec<Vec<String>>,
    /// Which text wins a conflict.
    pub preferred: Preferred,
}

impl Default for MergeRules {
    /// Elements are recognised by `_id` or `id`; no number counts.
    fn default() -> Self {
        MergeRules {
            identities: vec!["_id".to_owned(), "id".to_owned()],
            counters: Vec::new(),
            preferred: Preferred::Ours,
        }
    }
}

/// A place that both changed differently; `None`: the value is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeConflict {
    /// The place. An element that is recognised by its identity is named by that.
    pub path: Pointer,
    /// What both came from.
    pub base: Option<String>,
    /// What the first has.
    pub ours: Option<String>,
    /// What the second has.
    pub theirs: Option<String>,
}

/// Merges two texts that came from `base`. All are minified. Returns the merged text and what was in conflict.
///
/// ```
/// use recension_values::json::{MergeRules, merge_three};
/// # fn main() -> recension_values::error::Result<()> {
/// let base = r#"{"price":9,"parts":[{"id":1,"n":1}]}"#;
/// let ours = r#"{"price":10,"parts":[{"id":1,"n":1}]}"#;
/// let theirs = r#"{"price":9,"parts":[{"id":1,"n":2},{"id":2,"n":7}]}"#;
/// let (merged, conflicts) = merge_three(base, ours, theirs, &MergeRules::default())?;
/// assert_eq!(merged, r#"{"price":10,"parts":[{"id":1,"n":2},{"id":2,"n":7}]}"#);
/// assert!(conflicts.is_empty());
/// # Ok(()) }
/// ```
///
/// # Errors
/// For what is no JSON text.
pub fn merge_three(base: &str, ours: &str, theirs: &str, rules: &MergeRules) -> Result<(String, Vec<MergeConflict>)> {
    let outlines = [Outline::of(base)?, Outline::of(ours)?, Outline::of(theirs)?];
    let [base, ours, theirs] = &outlines;
    let mut merge = Merge { rules, path: Vec::new(), conflicts: Vec::new() };
    let merged = merge.values(Three { base: Some(base.root()), ours: Some(ours.root()), theirs: Some(theirs.root()) });
    Ok((merged.unwrap_or_else(|| "null".to_owned()), merge.conflicts))
}

/// The value of a place in each of the texts.
#[derive(Clone, Copy)]
struct Three<'o> {
    base: Option<View<'o>>,
    ours: Option<View<'o>>,
    theirs: Option<View<'o>>,
}

/// A member or element: its name or identity, and its value.
type Named<'o> = (String, View<'o>);

struct Merge<'r> {
    rules: &'r MergeRules,
    path: Vec<String>,
    conflicts: Vec<MergeConflict>,
}

fn equal(a: Option<View<'_>>, b: Option<View<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b, Numbers::ByText),
        (None, None) => true,
        _ => false,
    }
}

impl Merge<'_> {
    /// It recurses, because outlined texts nest no deeper than `JSON_DEPTH_MAX`.
    fn values(&mut self, three: Three<'_>) -> Option<String> {
        let Three { base, ours, theirs } = three;
        let text = |view: Option<View<'_>>| view.map(|view| view.text().to_owned());
        // Both may have counted the same.
        if let Some(sum) = self.counted(three) {
            return Some(sum);
        }
        let alike = equal(ours, theirs);
        // What is alike may have counters within.
        if equal(base, theirs) || alike && self.rules.counters.is_empty() {
            return text(ours);
        }
        if equal(base, ours) {
            return text(theirs);
        }
        if let (Some(one), Some(another)) = (ours, theirs) {
            let of_base = base.filter(|base| base.kind() == one.kind());
            let comparable = of_base.is_some() || base.is_none();
            if comparable && one.kind() == Kind::Object && another.kind() == Kind::Object {
                return Some(self.objects(of_base, one, another));
            }
            if let (true, Some(lists)) = (comparable, self.elements(of_base, one, another)) {
                return Some(self.arrays(lists));
            }
        }
        if alike {
            return text(ours);
        }
        let path = self.path.iter().cloned().fold(Pointer::root(), Pointer::child);
        self.conflicts.push(MergeConflict { path, base: text(base), ours: text(ours), theirs: text(theirs) });
        text(if self.rules.preferred == Preferred::Ours { ours } else { theirs })
    }

    fn objects(&mut self, base: Option<View<'_>>, ours: View<'_>, theirs: View<'_>) -> String {
        let base = base.map(members_of).unwrap_or_default();
        let merged = self.merged(&base, &members_of(ours), &members_of(theirs));
        let members: Vec<_> = merged.into_iter().map(|(name, value)| format!("{}:{value}", quote(&name))).collect();
        format!("{{{}}}", members.join(","))
    }

    fn arrays(&mut self, [base, ours, theirs]: [Vec<Named<'_>>; 3]) -> String {
        let elements: Vec<_> = self.merged(&base, &ours, &theirs).into_iter().map(|(_, value)| value).collect();
        format!("[{}]", elements.join(","))
    }

    /// What is left of members or elements: those of ours in their order, and new ones of theirs behind the one that
    /// they follow there.
    fn merged(&mut self, base: &[Named<'_>], ours: &[Named<'_>], theirs: &[Named<'_>]) -> Vec<(String, String)> {
        fn places<'o>(list: &'o [Named<'o>]) -> std::collections::HashMap<&'o str, View<'o>> {
            list.iter().map(|(name, value)| (name.as_str(), *value)).collect()
        }
        let (in_base, in_ours, in_theirs) = (places(base), places(ours), places(theirs));
        // By the one of ours that they follow; by none in front of all.
        let (mut new, mut follows) = (std::collections::HashMap::<_, Vec<&str>>::new(), None);
        for (name, _) in theirs {
            match in_ours.get_key_value(name.as_str()) {
                Some((known, _)) => follows = Some(*known),
                None => new.entry(follows).or_default().push(name),
            }
        }
        let mut order: Vec<&str> = new.remove(&None).unwrap_or_default();
        for (name, _) in ours {
            order.push(name);
            order.extend(new.remove(&Some(name.as_str())).unwrap_or_default());
        }
        let mut merged = Vec::with_capacity(order.len());
        for name in order {
            self.path.push(name.to_owned());
            let three = Three {
                base: in_base.get(name).copied(),
                ours: in_ours.get(name).copied(),
                theirs: in_theirs.get(name).copied(),
            };
            let value = self.values(three);
            self.path.pop();
            merged.extend(value.map(|value| (name.to_owned(), value)));
        }
        merged
    }

    /// The elements of arrays by their identities, if all have one and no two the same.
    fn elements<'o>(&self, base: Option<View<'o>>, ours: View<'o>, theirs: View<'o>) -> Option<[Vec<Named<'o>>; 3]> {
        let arrays = [base, Some(ours), Some(theirs)];
        if arrays.iter().flatten().any(|array| array.kind() != Kind::Array) {
            return None;
        }
        self.rules.identities.iter().find_map(|identity| {
            let of = |array: Option<View<'o>>| -> Option<Vec<Named<'o>>> {
                let mut known = std::collections::HashSet::new();
                let elements = array.map(View::children).into_iter().flatten();
                elements
                    .map(|element| {
                        let member = element.children().find(|member| member.name().decode() == identity.as_str());
                        let member = member.filter(|_| element.kind() == Kind::Object)?;
                        let id = match member.kind() {
                            Kind::String => member.string().decode().into_owned(),
                            Kind::Number => member.text().to_owned(),
                            _ => return None,
                        };
                        known.insert(id.clone()).then_some((id, element))
                    })
                    .collect()
            };
            let [base, ours, theirs] = arrays;
            Some([of(base)?, of(ours)?, of(theirs)?])
        })
    }

    /// The number that counts both differences, if it is a counter.
    fn counted(&self, Three { base, ours, theirs }: Three<'_>) -> Option<String> {
        let fits = |pattern: &Vec<String>| {
            pattern.len() == self.path.len()
                && pattern.iter().zip(&self.path).all(|(wanted, step)| wanted == "*" || wanted == step)
        };
        if !self.rules.counters.iter().any(fits) {
            return None;
        }
        let (base, ours, theirs) = (base.map_or("0", View::text), ours?.text(), theirs?.text());
        let whole = |text: &str| text.parse::<i128>().ok();
        if let (Some(base), Some(ours), Some(theirs)) = (whole(base), whole(ours), whole(theirs)) {
            return ours.checked_sub(base)?.checked_add(theirs).map(|sum| sum.to_string());
        }
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let sum = number(ours)? + number(theirs)? - number(base)?;
        sum.is_finite().then(|| sum.to_string())
    }
}

fn members_of(object: View<'_>) -> Vec<Named<'_>> {
    object.children().map(|child| (child.name().decode().into_owned(), child)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> (String, usize) {
        let (text, conflicts) = merge_three(base, ours, theirs, &MergeRules::default()).unwrap();
        (text, conflicts.len())
    }

    #[test]
    fn what_one_side_changed_is_taken_and_what_both_did_is_a_conflict() {
        for (base, ours, theirs, expected, conflicts) in [
            (r#"{"a":1,"b":2}"#, r#"{"a":3,"b":2}"#, r#"{"a":1,"b":4}"#, r#"{"a":3,"b":4}"#, 0),
            (r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":2}"#, r#"{"a":2}"#, 0),
            (r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#, r#"{"a":2}"#, 1),
            (r#"{"a":1,"b":1}"#, r#"{"b":1}"#, r#"{"a":1,"b":2}"#, r#"{"b":2}"#, 0),
            (r#"{"a":1,"b":1}"#, r#"{"b":1}"#, r#"{"a":2,"b":1}"#, r#"{"b":1}"#, 1),
            (r#"{"o":{"x":1,"y":1}}"#, r#"{"o":{"x":2,"y":1}}"#, r#"{"o":{"x":1,"y":2}}"#, r#"{"o":{"x":2,"y":2}}"#, 0),
            ("{}", r#"{"o":{"x":1}}"#, r#"{"o":{"y":1}}"#, r#"{"o":{"y":1,"x":1}}"#, 0),
            (r#"{"l":[1,2]}"#, r#"{"l":[1,2,3]}"#, r#"{"l":[0,1,2]}"#, r#"{"l":[1,2,3]}"#, 1),
            (
                r#"{"l":[{"id":"a","n":1},{"id":"b","n":1}]}"#,
                r#"{"l":[{"id":"b","n":1},{"id":"a","n":2}]}"#,
                r#"{"l":[{"id":"a","n":1},{"id":"c","n":1},{"id":"b","n":3}]}"#,
                r#"{"l":[{"id":"b","n":3},{"id":"a","n":2},{"id":"c","n":1}]}"#,
                0,
            ),
            (r#"{"l":[{"id":1}]}"#, r#"{"l":[]}"#, r#"{"l":[{"id":1},{"id":2}]}"#, r#"{"l":[{"id":2}]}"#, 0),
        ] {
            assert_eq!(merged(base, ours, theirs), (expected.to_owned(), conflicts), "{base} {ours} {theirs}");
        }
    }

    #[test]
    fn counters_add_both_differences_where_they_are_declared() {
        let rules = MergeRules { counters: vec![vec!["*".into(), "n".into()]], ..MergeRules::default() };
        let (text, conflicts) =
            merge_three(r#"{"a":{"n":5}}"#, r#"{"a":{"n":7}}"#, r#"{"a":{"n":4}}"#, &rules).unwrap();
        assert_eq!((text.as_str(), conflicts.len()), (r#"{"a":{"n":6}}"#, 0));
        let (text, _) = merge_three(r#"{"a":{"n":5}}"#, r#"{"a":{"n":6}}"#, r#"{"a":{"n":6}}"#, &rules).unwrap();
        assert_eq!(text, r#"{"a":{"n":7}}"#, "both counted one");
        let (base, both) = (r#"{"a":{"l":[1],"n":5}}"#, r#"{"a":{"l":[2],"n":6}}"#);
        let (text, conflicts) = merge_three(base, both, both, &rules).unwrap();
        assert_eq!((text.as_str(), conflicts.len()), (r#"{"a":{"l":[2],"n":7}}"#, 0), "and changed something alike");
    }

    fn objects() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![(0..3_u8).prop_map(|n| n.to_string()), Just("null".to_owned())];
        leaf.prop_recursive(3, 12, 3, |inner| {
            proptest::collection::btree_map("[abc]", inner, 0..4).prop_map(|members| {
                let members: Vec<_> = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            })
        })
    }

    fn are_equal(a: &str, b: &str) -> bool {
        let (a, b) = (Outline::of(a).unwrap(), Outline::of(b).unwrap());
        same(a.root(), b.root(), Numbers::ByText)
    }

    proptest! {
        #[test]
        fn merging_what_did_not_change_changes_nothing(base in objects(), ours in objects()) {
            prop_assert!(are_equal(&merged(&base, &ours, &base).0, &ours));
            prop_assert!(are_equal(&merged(&base, &base, &ours).0, &ours));
            prop_assert!(are_equal(&merged(&base, &ours, &ours).0, &ours));
        }

        #[test]
        fn sides_may_be_exchanged_if_nothing_is_in_conflict(base in objects(), a in objects(), b in objects()) {
            let ((one, conflicts), (other, also)) = (merged(&base, &a, &b), merged(&base, &b, &a));
            prop_assert_eq!(conflicts, also);
            if conflicts == 0 {
                prop_assert!(are_equal(&one, &other));
                prop_assert!(are_equal(&merged(&base, &one, &b).0, &one), "merging again changes nothing");
            }
        }
    }
}
