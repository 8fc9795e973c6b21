from __future__ import annotations

import asyncio
import gzip
import socket
import zlib

import pytest
from aiohttp.abc import AbstractResolver

from cuecard.core.config_players import VisitConfig
from cuecard.core.worlds.fetching import (
    Fetcher,
    FetchError,
    FetchFailure,
    Forbidden,
    check_url,
    is_public,
)
from cuecard.core.worlds.page_text import Format, read_page
from web_servers import Answer, Asked, WebServer, data, moved, page


class Names(AbstractResolver):
    """Gives for a name one list of addresses after the other."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def resolve(self, host, port=0, family=socket.AF_INET):
        self.asked.append(host)
        found = self.answers.pop(0)
        return [
            {
                "hostname": host,
                "host": address,
                "port": port,
                "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in found
        ]

    async def close(self) -> None:
        pass


async def fetch(url, resolver=None, **options):
    fetcher = Fetcher(VisitConfig.model_validate(options), "en", resolver)
    try:
        return await fetcher.fetch(url)
    finally:
        await fetcher.close()


async def loss(url, resolver=None, **options):
    with pytest.raises(FetchError) as caught:
        await fetch(url, resolver, **options)
    return caught.value.reason


async def fetched(answer: Answer, **options):
    """The page that a server gives to a fetcher that may fetch it."""
    async with WebServer(lambda _r: answer) as server:
        return await fetch(server.url, private=True, **options)


async def lost(answer: Answer, **options):
    async with WebServer(lambda _r: answer) as server:
        return await loss(server.url, private=True, **options)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.org/a", Forbidden.SCHEME),
        ("file:///etc/passwd", Forbidden.SCHEME),
        ("javascript:alert(1)", Forbidden.SCHEME),
        ("data:text/html,x", Forbidden.SCHEME),
        ("example.org", Forbidden.SCHEME),
        ("", Forbidden.SCHEME),
        ("http://", Forbidden.MALFORMED),
        ("http://:80/", Forbidden.MALFORMED),
        ("http://example.org:0/", Forbidden.MALFORMED),
        ("http://example.org:99999/", Forbidden.MALFORMED),
        ("http://[::1/", Forbidden.MALFORMED),
        ("http://example.org/a b", Forbidden.MALFORMED),
        ("http://example.org/\r\nX: y", Forbidden.MALFORMED),
        ("http://example.org\\@127.0.0.1/", Forbidden.CREDENTIALS),
        ("http://example.org\\.evil/", Forbidden.MALFORMED),
        ("http://example.org/" + "a" * 5000, Forbidden.MALFORMED),
        ("http://user@example.org/", Forbidden.CREDENTIALS),
        ("http://user:secret@example.org/", Forbidden.CREDENTIALS),
        ("http://@example.org/", Forbidden.CREDENTIALS),
    ],
)
async def test_addresses_that_are_refused_as_they_stand(url, why):
    assert check_url(url) == why
    assert await loss(url) == why


@pytest.mark.parametrize(
    "url", ["https://example.org", "HTTP://例子.测试/路?q=1#a", "http://[2606::1]:8080/"]
)
def test_addresses_that_may_be_tried(url):
    assert not isinstance(check_url(url), Forbidden)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.1",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::",
        "2002:808:808::",
        "2001:0:7f00:1::1",
        "2001:db8::1",
        "100::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "5f00::1",
        "3fff::1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "127.1",
        "nonsense",
    ],
)
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "172.32.0.1",
    ],
)
def test_addresses_that_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "0.0.0.0",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "169.254.169.254",
        "１２７.0.0.1",
    ],
)
async def test_no_way_of_writing_it_leads_to_the_own_machine(host):
    async with WebServer(lambda _r: page("secret")) as server:
        why = await loss(f"http://{host}:{server.port}/", timeout=5)
        assert why in (Forbidden.PRIVATE, Forbidden.MALFORMED, FetchFailure.UNREACHABLE)
        assert not server.asked


async def test_a_name_is_judged_by_what_it_resolves_to_each_time():
    async with WebServer(lambda _r: page("secret")) as server:
        url = f"http://rebinding.example:{server.port}/"
        names = Names(["::ffff:127.0.0.1", "127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"])
        for _ in range(3):
            assert await loss(url, names) == Forbidden.PRIVATE
        assert names.asked == ["rebinding.example"] * 3
        assert not server.asked
        # The same name is fetched where private addresses are allowed: it was the check that refused.
        assert (await fetch(url, Names(["127.0.0.1"]), private=True)).source == "secret"


async def test_the_check_is_on_the_address_connected_to_when_the_name_changes_in_between():
    """One fetcher, one name: first a public address (which refuses), then the own machine."""
    async with WebServer(lambda _r: page("secret")) as server:
        names = Names(["192.0.2.1"], ["127.0.0.1"])
        fetcher = Fetcher(VisitConfig(timeout=5), "en", names)
        for _ in range(2):
            with pytest.raises(FetchError) as caught:
                await fetcher.fetch(f"http://rebinding.example:{server.port}/")
            assert caught.value.reason == Forbidden.PRIVATE
        await fetcher.close()
        assert not server.asked


async def test_redirects_are_followed_five_times():
    def script(request: Asked) -> Answer:
        step = int(request.path[1:] or 0)
        return page(f"at {step}") if step == 5 else moved(f"/{step + 1}", 301 + step % 3)

    async with WebServer(script) as server:
        got = await fetch(server.url, private=True)
        assert (got.source, got.address) == ("at 5", f"{server.url}/5")


async def test_a_redirect_loop_ends():
    async with WebServer(lambda _r: moved("/again")) as server:
        assert await loss(server.url, private=True) == FetchFailure.REDIRECTS
        assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("file:///etc/passwd", Forbidden.SCHEME),
        ("http://me:secret@example.org/", Forbidden.CREDENTIALS),
        ("http://[::1", Forbidden.MALFORMED),
    ],
)
async def test_each_hop_is_checked(target, why):
    assert await lost(moved(target)) == why


@pytest.mark.parametrize(
    "inner", ["169.254.169.254", "10.0.0.1", "[::1]", "0x7f.2", "other.example"]
)
async def test_a_redirect_into_the_own_network_is_refused(inner):
    async with WebServer(lambda _r: moved(f"http://{inner}/latest/meta-data")) as server:
        # The server's own address is taken for a public one.
        names = Names(["127.0.0.1"], ["10.1.1.1"])
        public = Fetcher(VisitConfig(timeout=5), "en", names, lambda host: host == "127.0.0.1")
        with pytest.raises(FetchError) as caught:
            await public.fetch(f"http://public.example:{server.port}/")
        await public.close()
        assert caught.value.reason in (Forbidden.PRIVATE, Forbidden.MALFORMED)
        assert len(server.asked) == 1


async def test_a_huge_body_is_cut():
    chunk = b"<p>" + b"word " * 2000
    got = await fetched(
        Answer(200, {"content-type": "text/html"}, (chunk,), repeat=100_000), max_mb=0.1
    )
    assert got.cut
    assert len(got.source) == 100_000


def packed(kind: str, body: bytes) -> bytes:
    if kind == "gzip":
        return gzip.compress(body)
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15 if kind == "raw" else 15)
    return squeezer.compress(body) + squeezer.flush()


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw"])
async def test_packed_bodies_are_unpacked(kind):
    body = packed(kind, "灯塔".encode() * 10_000)
    encoding = "deflate" if kind == "raw" else kind
    got = await fetched(page(body, content_encoding=encoding))
    assert got.source == "灯塔" * 10_000


async def test_a_bomb_does_not_go_off():
    bomb = gzip.compress(b"a" * 20_000_000)
    assert len(bomb) < 30_000
    got = await fetched(page(bomb, content_encoding="gzip"), max_mb=0.5)
    assert got.cut
    assert len(got.source) == 500_000


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (page(b"not gzip", content_encoding="gzip"), FetchFailure.BROKEN),
        (page(b"x", content_encoding="br"), FetchFailure.BINARY),
        (page(b"%PDF-1.7", "application/pdf"), FetchFailure.PDF),
        (page(b"%PDF-1.7\n", "text/html"), FetchFailure.PDF),
        (page(b"\x89PNG\r\n\x1a\n\0\0", "image/png"), FetchFailure.BINARY),
        (page(b"\x89PNG\r\n\x1a\n\0\0", "text/html"), FetchFailure.BINARY),
        (page(b"text", "application/octet-stream"), FetchFailure.BINARY),
        (page(b"\x01\x02", ""), FetchFailure.BINARY),
        (Answer(404), FetchFailure.STATUS),
        (Answer(503), FetchFailure.STATUS),
        (Answer(304), FetchFailure.STATUS),
        (Answer(0), FetchFailure.BROKEN),
        (Answer(200, {"content-type": "text/html"}, (b"<p>half",), cut=True), FetchFailure.BROKEN),
        (Answer(200, {"content-length": "nonsense"}, (b"x",)), FetchFailure.BROKEN),
        (Answer(302), FetchFailure.STATUS),
    ],
)
async def test_what_is_no_page_is_refused(answer, why):
    assert await lost(answer) == why


async def test_a_page_that_drips_ends_in_time():
    slow = Answer(200, {"content-type": "text/html"}, (b"a",), pause=0.02, repeat=100_000)
    assert await lost(slow, timeout=0.2) == FetchFailure.TIMEOUT


async def test_a_server_that_is_not_there():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.close()
    assert await loss(f"http://127.0.0.1:{port}/", private=True) == FetchFailure.UNREACHABLE
    assert await loss(f"https://127.0.0.1:{port}/", private=True) == FetchFailure.UNREACHABLE


async def test_a_server_without_tls():
    def greet(_reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        why = await loss(f"https://127.0.0.1:{port}/", private=True, timeout=5)
        assert why in (FetchFailure.CERTIFICATE, FetchFailure.UNREACHABLE)


@pytest.mark.parametrize(
    ("body", "kind", "text", "form"),
    [
        ("灯塔".encode(), "text/html", "灯塔", Format.HTML),
        ("灯塔".encode(), "text/html; charset=iso-8859-1", "灯塔", Format.HTML),
        ("灯塔".encode("gbk"), "text/html; charset=gb2312", "灯塔", Format.HTML),
        ("灯塔".encode("gbk"), "text/html; charset=utf-8", "灯塔", Format.HTML),
        ("朱鎔基".encode("gbk"), "text/html; charset=gb2312", "朱鎔基", Format.HTML),
        (b'<meta charset="gbk">' + "灯塔".encode("gbk"), "text/html", None, Format.HTML),
        ("燈塔".encode("big5"), "text/plain; charset=Big5", "燈塔", Format.TEXT),
        ("灯台".encode("shift_jis"), "text/plain; charset=shift_jis", "灯台", Format.TEXT),
        ("灯台".encode("iso2022_jp"), "text/plain; charset=iso-2022-jp", "灯台", Format.TEXT),
        ("灯 塔".encode("utf-16"), "text/plain", "灯 塔", Format.TEXT),
        ("a b".encode("utf-16-le"), "text/plain; charset=utf-16le", "a b", Format.TEXT),
        (b"\xef\xbb\xbfa", "text/plain", "a", Format.TEXT),
        ("été “là”".encode("cp1252"), "text/plain", "été “là”", Format.TEXT),
        ("été".encode("latin-1"), "text/plain; charset=unicode_escape", "été", Format.TEXT),
        (b"a\\x41", "text/plain; charset=unicode_escape", "a\\x41", Format.TEXT),
        (b"+AGE-", "text/plain; charset=utf-7", "+AGE-", Format.TEXT),
        (b"ab", "text/plain; charset=utf-16", "ab", Format.TEXT),
        (b"\xff\xfe\xff", "text/plain; charset=utf-8", None, Format.TEXT),
        (b"<!DOCTYPE html><p>a", "", "<!DOCTYPE html><p>a", Format.HTML),
        (b"plain", "", "plain", Format.TEXT),
        (b"{}", "application/ld+json", "{}", Format.JSON),
        (b"<a/>", "application/rss+xml", "<a/>", Format.XML),
        (b"", "text/html", "", Format.HTML),
    ],
)
async def test_characters_are_read_as_they_were_meant(body, kind, text, form):
    got = await fetched(page(body, kind))
    assert got.format == form
    assert text is None or got.source == text


WORDS = {
    "gb18030": "灯塔建于一八七一年，至今仍在使用。守护人是奥林，她来自大陆。",
    "big5": "燈塔建於一八七一年，至今仍在使用。守護人是奧林，她來自大陸。",
    "shift_jis": "灯台は一八七一年に建てられ、今もなお使われています。",
    "euc_jp": "灯台は一八七一年に建てられ、今もなお使われています。守り人はオーリンです。",
    "euc_kr": "등대는 1871년에 세워졌으며 지금도 사용되고 있다.",
    "cp1251": "Маяк был построен в 1871 году и до сих пор используется.",
    "cp1252": "Le phare a été construit en 1871 – très isolé, même l’été.",
}


@pytest.mark.parametrize("encoding", WORDS)
@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-8", "text/html; charset=x"])
async def test_what_is_not_declared_is_guessed_from_the_words(encoding, kind):
    text = f"<html><head><title>x</title></head><body><p>{WORDS[encoding]}</p>" + "<br>" * 9_000
    assert (await fetched(page(text.encode(encoding), kind))).source == text


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "big5", "shift_jis"])
async def test_a_broken_character_costs_no_more_than_itself(encoding):
    words = WORDS.get(encoding, WORDS["gb18030"]) * 3
    declared = f'<meta charset="{encoding}">' if encoding != "utf-8" else ""
    body = declared.encode() + words.encode(encoding) + b"\xff" + b"<p>x"
    assert (await fetched(page(body, "text/html"))).source == f"{declared}{words}\ufffd<p>x"


async def test_contradicting_declarations():
    """The header has it, if it can be right; what stands in the page, if that can; else the words."""

    def body(words: str, encoding: str) -> bytes:
        return f'<meta charset="{words}">'.encode() + WORDS[encoding].encode(encoding)

    for declared, within, truth in (
        ("big5", "utf-8", "big5"), ("utf-8", "big5", "big5"), ("utf-8", "shift_jis", "gb18030"),
        ("us-ascii", "unicode_escape", "shift_jis"), ("iso-2022-jp", "utf-16", "cp1251"),
    ):  # fmt: skip
        got = await fetched(page(body(within, truth), f"text/html; charset={declared}"))
        assert got.source.endswith(WORDS[truth]), (declared, within)


@pytest.mark.parametrize(
    "body",
    [
        bytes(range(1, 256)) * 4_000,
        b"\xb5\xc6" * 500_000 + b"\xff",
        b"a" * 1_000_000 + b" " * 100_000 + b"\xe9",
        b"\xe9<" * 500_000,
        b"<title>x</title>" + b"<div>" * 100_000 + b"</span>" * 70_000,
    ],
    ids=["every byte", "one word", "a late one", "many words", "nested"],
)
async def test_a_hostile_page_is_read_to_its_end(body):
    """What takes quadratic time on one of these keeps its thread for hours: nobody can stop it."""
    got = await fetched(page(body, "text/html; charset=utf-8"))
    assert len(got.source) > len(body) / 2 - 1
    await asyncio.to_thread(read_page, got.source, got.format, got.address)


async def test_nothing_of_the_environment_is_used(monkeypatch, tmp_path):
    """Neither its proxy nor the passwords of ~/.netrc."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with WebServer(lambda _r: page("x", set_cookie="a=b")) as server:
        fetcher = Fetcher(VisitConfig(private=True))
        for _ in range(2):
            await fetcher.fetch(server.url)
        await fetcher.close()
        for request in server.asked:
            assert not {"authorization", "cookie", "proxy-authorization"} & set(request.headers)


async def test_many_at_once():
    async with WebServer(lambda r: data({"path": r.path})) as server:
        fetcher = Fetcher(VisitConfig(private=True))
        found = await asyncio.gather(*(fetcher.fetch(f"{server.url}/{n}") for n in range(20)))
        await fetcher.close()
        assert [p.source for p in found] == [f'{{"path": "/{n}"}}' for n in range(20)]
