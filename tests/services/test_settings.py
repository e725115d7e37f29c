"""Settings: one table, three sources in their order, everything that is wrong said at once, and secrets kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from wakeng.services.commands.settings_options import flag
from wakeng.services.settings import Loaded, Settings, SettingsError, load, settings_by_key
from wakeng.services.settings.kinds import masked
from wakeng.services.settings.page import configuration_page
from wakeng.services.settings.table import sections

DOCS = Path(__file__).resolve().parents[2] / "docs"


def loaded(tmp_path: Path, text: str = "", environment: dict[str, str] | None = None, **flags: Any) -> Loaded:
    """The settings of a file with this text, of these variables and flags; __ stands for a dot."""
    file = tmp_path / "arena.toml"
    file.write_text(text, "utf-8")
    return load(
        file, environment=environment or {}, flags={key.replace("__", "."): value for key, value in flags.items()}
    )


def problems(tmp_path: Path, text: str = "", environment: dict[str, str] | None = None) -> list[str]:
    """What is wrong with them, without the file's own path."""
    with pytest.raises(SettingsError) as error:
        loaded(tmp_path, text, environment)
    return [problem.replace(f"{tmp_path}/", "") for problem in error.value.problems]


# Where a value comes from -----------------------------------------------------------------------------------------


def test_without_any_source_there_are_the_defaults() -> None:
    found = load(environment={})
    assert found.settings == Settings()
    assert set(found.sources.values()) == {"default"}


def test_a_flag_goes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    text = '[serve]\nlisten = "127.0.0.1:1"\ngrace = 1\n[metrics]\nlisten = "127.0.0.1:2"\n'
    found = loaded(
        tmp_path, text, {"WAKENG_SERVE_LISTEN": "127.0.0.1:3", "WAKENG_SERVE_GRACE": "3"}, serve__listen="127.0.0.1:4"
    )
    assert (found.settings.serve.listen, found.settings.serve.grace) == ("127.0.0.1:4", 3.0)
    assert found.settings.metrics.listen == "127.0.0.1:2"
    assert found.sources["serve.listen"] == "--listen"
    assert found.sources["serve.grace"] == "$WAKENG_SERVE_GRACE"
    assert found.sources["metrics.listen"] == f"{tmp_path / 'arena.toml'}, line 5"


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text("[serve]\ngrace = 5\n", "utf-8")
    assert load(environment={"WAKENG_CONFIG": str(file)}).settings.serve.grace == 5


def test_every_kind_of_value_can_stand_in_the_environment(tmp_path: Path) -> None:
    found = load(
        environment={
            "WAKENG_ACCESS_AUTH": "true",
            "WAKENG_ACCESS_ALLOW_NET": "10.0.0.0/8, 192.168.0.0/16",
            "WAKENG_DATA": str(tmp_path),
            "WAKENG_LOG_LEVEL": "debug",
            "WAKENG_TRACES_SAMPLE": "0.5",
            "WAKENG_METRICS_LISTEN": "",
        }
    ).settings
    assert (found.access.auth, found.access.allow_net) == (True, ("10.0.0.0/8", "192.168.0.0/16"))
    assert (found.data.folder, found.log.level, found.traces.sample) == (tmp_path, "debug", 0.5)
    assert found.metrics.listen is None


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path) -> None:
    for name in ("a.pem", "a.key"):
        (tmp_path / name).touch()
    tls = loaded(tmp_path, '[tls]\ncert = "a.pem"\nkey = "a.key"\n').settings.tls
    assert (tls.cert, tls.key) == (tmp_path / "a.pem", tmp_path / "a.key")


def test_a_secret_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("postgresql://u:p@h/d\n", "utf-8")
    found = load(environment={"WAKENG_STORE_URL_FILE": str(secret)})
    assert found.settings.store.url == "postgresql://u:p@h/d"
    assert found.sources["store.url"] == "$WAKENG_STORE_URL_FILE"


# What is wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[serve]\nlisen = 1", "arena.toml: line 2: there is no serve.lisen; did you mean serve.listen?"),
        ("\n[server]\nx = 1", "arena.toml: line 2: there is no section 'server'; did you mean serve?"),
        ("serve = 3", "arena.toml: line 1: serve is a table, [serve]"),
        ("[serve]\ngrace = 'long'", "arena.toml: line 2: serve.grace: Expected `float`, got `str`"),
        ("[serve]\ngrace = -1", "arena.toml: line 2: serve.grace: -1.0 is not in the range x>=0"),
        ("[serve]\nlisten = 'here'", "arena.toml: line 2: serve.listen: 'here' is no address"),
        ("[log]\nlevel = 'loud'", "arena.toml: line 2: log.level: "),
        ("[access]\nallow_net = '10.0.0.0/8'", "arena.toml: line 2: access.allow_net: Expected `array`, got `str`"),
        ("[access]\nallow_net = ['10.0.0.1/8']", "'10.0.0.1/8' is no network"),
        ("[tls]\ncert = 7", "arena.toml: line 2: tls.cert: Expected `str`, got `int`"),
        ("[tls]\ncert = 'nowhere.pem'", "does not exist"),
        ("[serve", "arena.toml: "),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (problem,) = problems(tmp_path, text)
    assert said in problem


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    found = problems(tmp_path, "[serve]\nlisen = 1\ngrace = -1", {"WAKENG_LOG_LEVEL": "loud"})
    assert [problem.partition(": ")[0] for problem in found] == ["arena.toml", "arena.toml", "$WAKENG_LOG_LEVEL"]
    with pytest.raises(SettingsError, match=r"serve.lisen.* \(and 2 more; `wakeng config check` tells all\)"):
        loaded(tmp_path, "[serve]\nlisen = 1\ngrace = -1", {"WAKENG_LOG_LEVEL": "loud"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tls]\ncert = 'f'", "--tls-cert and --tls-key go together"),
        ("[tls]\nclient_ca = 'f'", "--client-ca goes with"),
        ("[bots]\nkey = 'f'", "--bots-cert and --bots-key go together"),
        ("[bots]\nca = 'f'\ninsecure = true", "--insecure-bots means no TLS"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "f").touch()
    (problem,) = problems(tmp_path, text)
    assert said in problem


def test_a_url_that_is_none_is_not_repeated_as_it_may_hold_a_password(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "[store]\nurl = 'u:hunter 2@h'")
    assert "hunter" not in problem


def test_a_variable_that_is_nearly_one_of_ours_is_told_and_others_are_not() -> None:
    environment = {"WAKENG_SERVE_LISTENS": "x", "WAKENG_PORT_50050_TCP_PROTO": "tcp", "WAKENG_TOKEN": "x"}
    assert load(environment=environment).warnings == (
        "$WAKENG_SERVE_LISTENS is not read; did you mean $WAKENG_SERVE_LISTEN?",
    )


def test_a_file_that_is_no_settings_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "big"
    file.write_bytes(b"#" * (2 << 20))
    with pytest.raises(SettingsError, match="over 1 MiB"):
        load(file, environment={})
    with pytest.raises(SettingsError, match="No such file"):
        load(tmp_path / "nowhere", environment={})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://wakeng:hunter2@db:5432/w", "postgresql://wakeng:***@db:5432/w"),
        ("postgresql://wakeng@db/w", "postgresql://wakeng@db/w"),
        ("nats://token@n:4222", "nats://***@n:4222"),
        ("nats://u:p@a:1,nats://u:p@b:1", "nats://u:***@a:1,nats://u:***@b:1"),
        ("sqlite:///a@b.db", "sqlite:///a@b.db"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    assert masked(url) == shown


# The table --------------------------------------------------------------------------------------------------------


def test_no_two_settings_share_a_flag_or_a_variable() -> None:
    settings = settings_by_key().values()
    assert len({setting.about.flag for setting in settings}) == len(settings)
    variables = [name for setting in settings for name in (setting.variable, setting.file_variable) if name]
    assert len(set(variables)) == len(variables)


@pytest.mark.parametrize("key", settings_by_key())
def test_a_setting_can_be_made_an_option_and_tells_its_default(key: str) -> None:
    setting = settings_by_key()[key]
    assert setting.about.help.endswith(".")
    command = click.command("x")(flag(setting)(lambda **_: None))
    (option,) = command.params
    assert isinstance(option, click.Option)
    assert option.name == setting.parameter
    if setting.default not in (None, (), False):
        assert f"[default: {setting.default}]" in str(option.help)


def test_every_section_says_what_it_is() -> None:
    assert all((section.__doc__ or "").endswith(".") for section in sections().values())


def test_the_golden_page_of_settings_is_what_the_code_says(golden: Callable[[Path, str], None]) -> None:
    golden(DOCS / "configuration.md", configuration_page())
