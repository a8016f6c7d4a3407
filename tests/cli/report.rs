//! The pages of `tsunagi repro --out` in a browser.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tsunagi;

/// A phone, and a window beside another.
const WINDOWS: [u32; 2] = [390, 1200];

/// Debian's package, if it is here.
fn chromium() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.find(|program| program.is_file())
}

/// What a script says, in the paragraph that it ends with `;`, when Chromium has shown this page.
fn said(chromium: &Path, folder: &Path, page: &str, options: &[&str]) -> String {
    let file = folder.join("shown.html");
    fs::write(&file, page).unwrap();
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=10000",
            "--dump-dom",
        ])
        .args(options)
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let said = dom
        .split_once("<p id=\"said\">")
        .and_then(|(_, rest)| rest.split_once(';'));
    let said = said.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    said.0.to_owned()
}

/// The width of a page in a window of `window` pixels, in pixels. The window is a frame, for the browser's own has a
/// least width.
fn width(chromium: &Path, folder: &Path, page: &str, window: u32) -> u32 {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<iframe id=\"f\" width=\"{window}\" height=\"800\" style=\"border:0\" srcdoc=\"{page}\"></iframe>\
         <p id=\"said\"></p><script>const f = document.getElementById('f'), s = document.getElementById('said');\
         f.onload = () => s.textContent = f.contentDocument.documentElement.scrollWidth + ';'</script>"
    );
    said(chromium, folder, &frame, &[]).parse().unwrap()
}

/// How bright page, ink and a block of the stepped view are, to 255 each, and the filter of the first picture.
fn colours(chromium: &Path, folder: &Path, page: &str, dark: bool) -> ([u32; 3], String) {
    let script = "<p id=\"said\"></p><script>const of = (what) => getComputedStyle(document.querySelector(what));\
         document.getElementById('said').textContent =\
         [of('body').backgroundColor, of('body').color, of('.steps g:not(.busy) rect').fill,\
         of('figure .scroll svg').filter].join('|') + ';'\
         </script></body>";
    let options: &[&str] = if dark {
        &["--blink-settings=preferredColorScheme=0"]
    } else {
        &[]
    };
    let said = said(chromium, folder, &page.replace("</body>", script), options);
    let [page, ink, block, filter] = said.split('|').collect::<Vec<_>>()[..] else {
        panic!("{said}")
    };
    // As `rgb(20, 24, 31)`.
    let bright = |colour: &str| {
        let parts = colour
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|part| part.parse::<u32>().ok());
        parts.take(3).sum::<u32>() / 3
    };
    ([page, ink, block].map(bright), filter.to_owned())
}

#[test]
fn no_page_scrolls_sideways() {
    let Some(chromium) = chromium() else {
        eprintln!("left out: no Chromium on PATH (Debian's package `chromium`)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    // Of Cenju-3, of the AP1000+, of DIMMnet-1 and of EM-4. E2 and C10 have a packet step by step.
    let experiments = ["E2", "E7", "C10", "M2", "X3", "R1"]
        .map(|id| ["--experiment", id])
        .concat();
    let (code, _, error) = tsunagi(
        &[
            &["repro", "--backend", "model", "--brief", "--out", out],
            &experiments[..],
        ]
        .concat(),
    );
    assert_eq!(code, 0, "{error}");
    let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let pages: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|end| end == "html"))
        .collect();
    assert!(
        pages.len() > 2 && pages.contains(&folder.path().join("report.html")),
        "{pages:?}"
    );
    for file in pages {
        let page = fs::read_to_string(&file).unwrap();
        for window in WINDOWS {
            let wide = width(&chromium, folder.path(), &page, window);
            assert!(
                wide <= window,
                "{}: {wide} pixels in a window of {window}",
                file.display()
            );
        }
        // The broken twin: a page that is too wide is seen to be.
        let broken = page.replace("<body>", "<body><div style=\"width:1300px\">x</div>");
        assert!(width(&chromium, folder.path(), &broken, WINDOWS[1]) > WINDOWS[1]);
    }
}

#[test]
fn in_the_dark_page_and_pictures_are_dark() {
    let Some(chromium) = chromium() else {
        eprintln!("left out: no Chromium on PATH (Debian's package `chromium`)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (code, _, error) = tsunagi(&[
        "repro",
        "cenju3",
        "--backend",
        "model",
        "--experiment",
        "E2",
        "--out",
        out,
    ]);
    assert_eq!(code, 0, "{error}");
    let page = fs::read_to_string(folder.path().join("report-cenju3.html")).unwrap();
    let is_dark = |([page, ink, block], filter): ([u32; 3], String)| {
        page < 60 && ink > 200 && block < 60 && filter.starts_with("invert")
    };
    assert!(is_dark(colours(&chromium, folder.path(), &page, true)));
    let ([bright, ink, block], filter) = colours(&chromium, folder.path(), &page, false);
    assert!(
        bright > 200 && ink < 60 && block > 200 && filter == "none",
        "{bright} {ink} {block} {filter}"
    );
    // The broken twin: a page that does not ask stays light.
    let broken = page.replace("prefers-color-scheme: dark", "prefers-color-scheme: none");
    assert!(broken != page && !is_dark(colours(&chromium, folder.path(), &broken, true)));
}

/// The names and the spans of the blocks of the first stepped view, in picoseconds.
fn blocks(page: &str) -> Vec<(String, Vec<(u64, u64)>)> {
    let view = page.split_once("<div class=\"steps\">").expect("a stepped view").1;
    let picture = view.split_once("</svg>").expect("its picture").0;
    let value = |block: &str, name: &str| {
        let (_, rest) = block.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let span = |text: &str| {
        let (from, to) = text.split_once('-').expect("a begin and an end");
        (from.parse().unwrap(), to.parse().unwrap())
    };
    let block = |tag: &str| {
        let tag = tag.split_once('>').expect("an end of the tag").0;
        let spans = value(tag, "data-spans").unwrap_or_default();
        let name = value(tag, "data-name").expect("a name");
        (name, spans.split_whitespace().map(span).collect())
    };
    picture.split("<g ").skip(1).map(block).collect()
}

/// The blocks that are marked at each step, whether the control is shown, and how many steps of the list are.
fn marked(chromium: &Path, folder: &Path, page: &str) -> (Vec<Vec<String>>, bool, usize) {
    let script = "<p id=\"said\"></p><script>{\
         const view = document.querySelector('.steps'), pick = view.querySelector('input'), all = [];\
         for (let at = 0; at <= pick.max; at++) {\
           pick.value = at; pick.dispatchEvent(new Event('input'));\
           all.push([...view.querySelectorAll('g.busy')].map((block) => block.dataset.name).join(','));\
         }\
         const shown = [...view.querySelectorAll('li')].filter((step) => step.offsetHeight > 0);\
         document.getElementById('said').textContent =\
         [view.querySelector('.pick').offsetHeight > 0, shown.length, ...all].join('|') + ';';\
         }</script></body>";
    let said = said(chromium, folder, &page.replace("</body>", script), &[]);
    let mut parts = said.split('|');
    let (control, shown) = (parts.next().unwrap() == "true", parts.next().unwrap().parse().unwrap());
    let names = |step: &str| {
        step.split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    };
    (parts.map(names).collect(), control, shown)
}

#[test]
fn a_chosen_step_marks_what_is_busy_then() {
    let Some(chromium) = chromium() else {
        eprintln!("left out: no Chromium on PATH (Debian's package `chromium`)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cenju3.html");
    let out = file.to_str().unwrap();
    let (code, _, error) = tsunagi(&[
        "report",
        "cenju3",
        "--backend",
        "model",
        "--experiment",
        "E2",
        "--out",
        out,
    ]);
    assert_eq!(code, 0, "{error}");
    let page = fs::read_to_string(file).unwrap();
    let blocks = blocks(&page);
    let spans = || blocks.iter().flat_map(|(_, spans)| spans.iter().copied());
    let times: BTreeSet<u64> = spans().flat_map(|(from, to)| [from, to]).collect();
    let is_busy = |at: u64, (from, to): (u64, u64)| from <= at && (at < to || from == to && to == at);
    let busy = |at: &u64| {
        let ours = blocks
            .iter()
            .filter(|(_, spans)| spans.iter().any(|span| is_busy(*at, *span)));
        ours.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let expected: Vec<_> = times.iter().map(busy).collect();
    assert_eq!(expected[0], ["CPU 0"]);
    assert!(
        expected.iter().any(|names| names.contains(&"network".into())),
        "{expected:?}"
    );
    assert_eq!(
        marked(&chromium, folder.path(), &page),
        (expected.clone(), true, spans().count())
    );
    // The broken twins: a span that lasts an instant too long, and a block that is not marked.
    for (right, wrong) in [
        ("now < to", "now <= to"),
        ("classList.toggle('busy'", "classList.toggle('idle'"),
    ] {
        let broken = page.replace(right, wrong);
        assert!(
            broken != page && marked(&chromium, folder.path(), &broken).0 != expected,
            "{wrong}"
        );
    }
    let broken = page.replacen("<li data-spans", "<p data-spans", 1);
    assert!(
        marked(&chromium, folder.path(), &broken).2 < spans().count(),
        "a step that is none"
    );
    // Without the script all steps are there, and nothing that would need it.
    let (before, script) = page.split_once("<script>").expect("a script");
    let still = format!("{before}{}", script.split_once("</script>").expect("its end").1);
    let (names, control, shown) = marked(&chromium, folder.path(), &still);
    assert!(
        names.concat().is_empty() && !control && shown == spans().count(),
        "{names:?}"
    );
}

#[test]
fn the_index_names_each_machine_and_each_report_goes_back() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (code, _, error) = tsunagi(&[
        "repro",
        "--backend",
        "model",
        "--experiment",
        "E7",
        "--experiment",
        "M1",
        "--out",
        out,
    ]);
    assert_eq!(code, 0, "{error}");
    let index = fs::read_to_string(folder.path().join("report.html")).unwrap();
    for machine in ["cenju3", "ap1000p"] {
        assert!(index.contains(&format!("href=\"report-{machine}.html\"")), "{index}");
        let report = fs::read_to_string(folder.path().join(format!("report-{machine}.html"))).unwrap();
        assert!(report.contains("href=\"report.html\"") && report.contains("--experiment E7"));
        let (all, scoped) = (report.matches("<th").count(), report.matches("scope=\"").count());
        assert_eq!(all, scoped, "each header cell says what it heads");
        let (pictures, labels) = (
            report.matches("role=\"img\"").count(),
            report.matches("aria-label=\"").count(),
        );
        assert_eq!(
            pictures + 1,
            labels,
            "each picture has its label, and so has the list of experiments"
        );
    }
}
