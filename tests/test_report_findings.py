"""The findings of a report: their files, headlines, further seeds, key numbers, captions, and the report on paper."""

from collections import Counter
from pathlib import Path

import jinja2
import pytest
import yaml
from conftest import ROOT
from mentions import mentions, mentions_together, raises
from page_studies import CONTEXT, HIGH, LAST, MID, group_rows, make_study, summary_rows, table
from pages import Page, check_source, needs_chromium, rows, section
from test_report import write_report
from test_scripts import script

from heuristic_core.config.claims import load_claims
from heuristic_core.config.findings import Finding, load_findings
from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.registry import load_experiment
from heuristic_core.experiments.subnetworks.experiment import EXPERIMENT
from heuristic_core.experiments.subnetworks.figures.targets import drawing_module
from heuristic_core.experiments.subnetworks.report.page import warn_of_runs
from heuristic_core.experiments.subnetworks.report.tiles import build_tiles
from heuristic_core.report import pdf
from heuristic_core.report.claims import group_claims
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.report.findings import Replication, build_findings, load_replications, summarise_verdicts
from heuristic_core.stats.verdicts import VERDICTS
from heuristic_core.tables.parquet import read_rows, read_table, write_table
from heuristic_core.tables.schemas import get_schema

FOLDERS = ("subnetworks", "list_sorting", "extractive_structures")
MOST_WORDS = 60


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_claim_with_a_family_answers_one_finding_and_checks_none(folder):
    root = ROOT / "src" / "heuristic_core" / "experiments" / folder
    claims = load_claims(root / "claims.yaml")
    findings = load_findings(root / "findings.yaml").findings
    answering = Counter(name for finding in findings for name in finding.claims)
    assert answering == Counter(claim.claim for claim in claims if claim.family)
    assert {name for finding in findings for name in finding.against} <= {c.claim for c in claims if not c.family}


@pytest.mark.parametrize("name", ["heuristic-core", "list-sorting", "extractive-structures"])
def test_findings_show_targets_by_what_draws_them_and_none_twice(name):
    experiment = load_experiment({"experiment": name}, "configuration")
    targets = [target for finding in load_findings(experiment.findings).findings for target in finding.targets]
    assert set(targets) <= experiment.targets.keys() and len(targets) == len(set(targets))
    assert name != "heuristic-core" or all(drawing_module(target) == target for target in targets)


def finding(**values):
    return {"finding": "f", "title": "t", "text": "x", "targets": [], "claims": {"a": "A"}} | values


@pytest.mark.parametrize(
    ("findings", "named"),
    [
        ([finding(shows=["figure02"])], ("shows",)),
        ([finding(), finding(finding="g")], ("a",)),
        ([finding(against={"b": "not clear"})], ("against",)),
        ([finding(claims={})], ("claims",)),
        ([], ("findings",)),
    ],
)
def test_a_faulty_file_of_findings_is_refused(tmp_path, findings, named):
    path = tmp_path / "findings.yaml"
    path.write_text(yaml.safe_dump({"findings": findings}))
    with raises(ConfigError, path, *named):
        load_findings(path)


@pytest.mark.parametrize(
    ("counts", "weak", "undecidable", "outcome", "numbers"),
    [
        ({"supported": 3}, 0, 0, "supported", (3,)),
        ({"supported": 3}, 2, 0, "not clear", (3, 2)),
        ({"supported": 3}, 0, 2, "not clear", (3, 5)),
        ({"supported": 3, "not clear": 2}, 0, 0, "not clear", (3, 5, 2)),
        ({"supported": 1, "contradicted": 1}, 0, 1, "not clear", (1, 2)),
        ({"contradicted": 1, "not clear": 2}, 0, 0, "contradicted", (3, 1, 2)),
        ({"not clear": 1, "failed runs": 1}, 0, 0, "not clear", (2, 1)),
    ],
)
def test_headlines_are_made_from_verdicts(counts, weak, undecidable, outcome, numbers):
    headline, verdict = summarise_verdicts(dict.fromkeys(VERDICTS, 0) | counts, weak, undecidable)
    assert verdict == outcome and mentions(headline, *(n for n in numbers if n > 1))


def claim(name, verdict, **values):
    return {
        "claim": name,
        "sentence": f"Sentence {name}",
        "verdict": verdict,
        "threshold": "> 1",
        "family": "f",
    } | values


def test_a_finding_has_its_claims_figures_and_the_checks_that_speak_against_it():
    rows = [
        claim("a", "supported"),
        claim("few", "too few"),
        claim("b", "contradicted", family=None),
        claim("c", "not clear", family=None),
    ]
    claims = group_claims(table("claims", [*rows, claim("d", "supported", family=None)]))
    exhibits = [Exhibit(name, name, "", "", "", "", {}) for name in ("table5", "figure11", "figure05")]
    against = {"b": "contradicted", "c": "contradicted", "d": "contradicted", "absent": "supported"}
    entry = finding(
        text="{{ mid }} removed",
        targets=["figure05", "absent"],
        claims={"absent": "?", "a": "A", "few": "Few"},
        against=against,
    )
    entries = [Finding(**entry, runs="all"), Finding(**finding(finding="g", claims={"absent": "?"}))]
    further = {("a", "> 1"): Replication(10, 5, 0)}
    (view,) = build_findings(entries, claims, exhibits, {"mid": "40 %"}, drawing_module, {"all": "2 failed"}, further)
    assert mentions(view.answers[0].reservation, 5, 10) and view.undecidable == 1
    assert (view.text, view.verdict, view.warning) == ("40 % removed", "not clear", "2 failed")
    assert [(answer.claim.name, answer.text) for answer in view.answers] == [("a", "A")]
    assert [answer.claim.name for answer in view.opposed] == ["b"] and (view.checks, view.undecided) == (3, 1)
    assert [e.name for e in view.exhibits] == ["figure11", "figure05"]


def test_further_seeds_belong_to_the_study_that_the_file_names():
    replicates = load_findings(EXPERIMENT.findings).replicates
    (path,) = EXPERIMENT.list_replicates(replicates.study)
    assert Path(path).resolve() == ROOT / replicates.table and EXPERIMENT.list_replicates("another") == []
    replications = load_replications(path)
    assert replications and all(0 <= r.supported + r.contradicted <= r.seeds for r in replications.values())
    assert replications.keys() & {(c.claim, c.threshold) for c in load_claims(EXPERIMENT.claims)}


@pytest.fixture
def told(tmp_path):
    """A study whose first claim answers the second finding, and a table of further seeds."""
    root = make_study(tmp_path / "tiny")
    rows = [
        r | ({"claim": "disagree-out-of-domain"} if r["claim"] == "disagree" else {})
        for r in read_rows(claims_of(root))
    ]
    write_table("claims", rows, claims_of(root))
    replicate = {"claim": "disagree-out-of-domain", "threshold": "> 20", "seeds": 9, "supported": 7, "contradicted": 1}
    rows = [dict.fromkeys(get_schema("replicates").names) | replicate]
    write_table("replicates", rows, tmp_path / "further.parquet")
    return root


def claims_of(root):
    return root / "tables" / "claims.parquet"


def test_the_page_begins_with_findings_and_shows_each_figure_once(told):
    path = write_report(told)
    page = check_source(path)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    order = [
        "finding-subnetworks-disagree",
        "figure02",
        "claims",
        "claim-disagree-out-of-domain",
        "exhibits",
        "figure06",
    ]
    assert sorted(order, key=ids.index) == order and len([n for n in ids if n.startswith("finding-")]) == 2
    assert {len(row) for row in rows(section(path, "claims"))[:3]} == {5}  # none of further seeds


def test_the_page_says_on_how_many_further_seeds_a_claim_holds(told, tmp_path):
    page = write_report(told, "--replicates", tmp_path / "further.parquet")
    check_source(page)
    assert mentions(rows(section(page, "claims"))[1][5], 7, 9)
    answer = Page(section(page, "finding-subnetworks-disagree")).text
    assert mentions_together(answer, 7, 9) and "1 ✗" in answer
    assert load_replications(tmp_path / "further.parquet") == {("disagree-out-of-domain", "> 20"): Replication(9, 7, 1)}


def test_only_runs_that_a_finding_rests_on_are_warned_of(tmp_path):
    cells = [(1000, MID), (LAST, 0.7), (LAST, HIGH)]
    rows = [
        {"ft_seed": 1, "step": step, "sparsity": sparsity, "seed": 1, "repeat": 0, "missed": True, "collapsed": False}
        | {"actual_sparsity": sparsity}
        for step, sparsity in cells
    ]
    write_table("runs", table("runs", rows), tmp_path / "runs.parquet")
    runs = read_table(tmp_path / "runs.parquet")
    warnings = warn_of_runs(runs, CONTEXT)
    assert {
        kind: mentions(text, n) for (kind, text), n in zip(warnings.items(), (1, 2, 3), strict=True)
    } == dict.fromkeys(("spread", "curve", "all"), True)
    assert warn_of_runs(runs.assign(missed=False), CONTEXT) == warn_of_runs(None, CONTEXT) == {}


def test_tiles_have_the_key_numbers_of_the_tables(tmp_path):
    tables = tmp_path / "tables"
    assert build_tiles(tmp_path, CONTEXT, None) == []
    write_table("group_accuracy", table("group_accuracy", group_rows((1,), 0.0)), tables / "group_accuracy.parquet")
    assert [tile.value for tile in build_tiles(tmp_path, CONTEXT, "negation")] == ["95.0 %", "50.0 %"]
    of_ood = build_tiles(tmp_path, CONTEXT, "negation")[1]
    assert mentions(of_ood.label, "OOD") and mentions(of_ood.note, "negation", "45.0 to 55.0")
    write_table("group_accuracy", table("group_accuracy", group_rows((1, 2), 0.0)), tables / "group_accuracy.parquet")
    write_table("summary", table("summary", summary_rows((1, 2), 0.0)), tables / "summary.parquet")
    assert [tile.value for tile in build_tiles(tmp_path, CONTEXT, None)] == ["95.0 %", "38.0 %"]
    null = [{"ft_seed": s, "set": "mid+high", "n": 24, "observed": s, "expected": 0.25} for s in (2, 1)]
    write_table("core_null", table("core_null", null), tables / "core_null.parquet")
    core = [{"ft_seed": 1, "name": name, "in_core": name != "0.2"} for name in ("0.1", "0.2", "1.1")]
    write_table("core", table("core", core), tables / "core.parquet")
    j = {"ft_seed": 1, "kind": "mean", "group": "j"}
    ablated = {"none": (80.0, 0.0, 0.0, 0.0), "0.1": (70.0, -10.0, -12.0, -8.0), "0.1+1.1": (8.0, -72.0, -76.0, -68.0)}
    rows = [
        j | {"ablation": name, **dict(zip(("accuracy", "change", "change_low", "change_high"), values, strict=True))}
        for name, values in ablated.items()
    ]
    write_table("ablations", table("ablations", rows), tables / "ablations.parquet")
    size, lost = build_tiles(tmp_path, CONTEXT, None)[-2:]
    assert size.value == "1, 2" and mentions(size.note, 24, "0.2")
    assert lost.value == "90 %" and mentions(lost.note, "85.0 to 95.0")


@pytest.mark.parametrize("path", sorted((ROOT / "workflow" / "report").glob("*/*.rst")), ids=lambda path: path.stem)
@pytest.mark.parametrize("task", [{}, {"heuristic": "word overlap"}], ids=["no heuristic", "heuristic"])
def test_captions_are_short(path, task):
    words = jinja2.Template(path.read_text()).render(snakemake={"config": {"task": task}}).split()
    assert 0 < len(words) <= MOST_WORDS


def test_without_a_browser_there_is_no_pdf_but_a_reason(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(pdf, "find_browser", lambda: None)
    assert pdf.print_page("page.html", tmp_path / "page.pdf") and not (tmp_path / "page.pdf").exists()
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(yaml.safe_load((ROOT / "config.yaml").read_text()) | {"results": str(tmp_path)}))
    script("print_report").main(["--configfile", str(config)])
    assert mentions(capsys.readouterr().out, "report.pdf")


def test_a_browser_that_fails_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(pdf, "find_browser", lambda: "/bin/false")
    assert mentions(pdf.print_page("page.html", tmp_path / "page.pdf"), "/bin/false")


@pytest.mark.slow
@needs_chromium
def test_a_browser_prints_a_page(told, tmp_path):
    assert pdf.print_page(write_report(told), tmp_path / "page.pdf") is None
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
