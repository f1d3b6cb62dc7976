//! Ids of elements, and the anchors that claims link to.

use std::collections::HashSet;

/// `chart-<slug>` of a sweep or topic: letters, digits and hyphens, whatever the name has.
pub fn chart(name: &str) -> String {
    format!("chart-{}", slug(name))
}

fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().take(80) {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => slug.push(c),
            _ if !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "unnamed".into() } else { slug.into() }
}

/// Gives every id out once.
#[derive(Default)]
pub struct Ids(HashSet<String>);

impl Ids {
    /// `wanted`, or with a number behind it when it is taken.
    pub fn claim(&mut self, wanted: String) -> String {
        let mut id = wanted.clone();
        for n in 2.. {
            if self.0.insert(id.clone()) {
                break;
            }
            id = format!("{wanted}-{n}");
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_and_given_once() {
        assert_eq!(chart("threads-rndrd"), "chart-threads-rndrd");
        assert_eq!(chart("\"><script>"), "chart-script");
        assert_eq!(chart("…"), "chart-unnamed");
        let mut ids = Ids::default();
        assert_eq!(ids.claim(chart("a!")), "chart-a");
        assert_eq!(ids.claim(chart("a?")), "chart-a-2");
    }
}
