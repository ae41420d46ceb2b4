"""Jobs to be created, drawn by the seed: what they carry, and how each way of creation says it."""
import datetime
import json

import line

LANES = ["red", "green", "blue", "gray"]
TEXTS = ["", "plain", 'quotes " and \\ and \t tabs', "gr\u00fc\u00dfe \u4e16\u754c \U0001f680", "{\"not\": 1}"]


def instant(ms):
    at = datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (ms % 1000)


class Draft:
    def __init__(self, marker, handler, payload, options):
        self.marker = marker
        self.handler = handler
        self.payload = dict(payload, m=marker)
        self.options = options

    def fields(self):
        """What the log says of it."""
        body = self.payload.get("body")
        return {"priority": self.options.get("priority"), "lane": self.options.get("lane"),
                "due": self.options.get("at"), "retries": self.options.get("retries"),
                "hash": None if body is None else line.hash_of(body),
                "note": "%s %s" % (self.marker, self.handler)}

    def flags(self):
        words = [self.handler, json.dumps(self.payload)]
        for name, value in self.options.items():
            text = json.dumps(value) if isinstance(value, bool) else str(value)
            words += ["--" + {"after": "in"}.get(name, name), text]
        return words

    def json(self):
        return json.dumps(dict(self.options, handler=self.handler, payload=self.payload))

    def lua(self):
        return "{%s,%s,%s,%s}" % (lua(self.handler), lua(self.payload), lua(self.options),
                                  lua({k: v for k, v in self.fields().items() if v is not None}))


def lua(value):
    if isinstance(value, dict):
        return "{%s}" % ",".join("[%s]=%s" % (lua(k), lua(v)) for k, v in value.items())
    if isinstance(value, str):
        return '"%s"' % "".join("\\%03d" % byte for byte in value.encode())
    return json.dumps(value)


class Drafts:
    """A stream of them; each stream has its own name, so that no two markers are equal."""

    def __init__(self, world, rng, name):
        self.world = world
        self.rng = rng
        self.name = name
        self.count = 0

    def body(self):
        size = self.rng.choice([0, 1, 20, 100, 100, 100, 1000, 20000])
        text = self.rng.choice(TEXTS)
        return (text * (size // max(1, len(text)) + 1))[:max(size, len(text))]

    def make(self, handler, payload=None, **options):
        self.count += 1
        payload = dict(payload or {}, body=self.body())
        options.setdefault("priority", self.rng.randrange(0, 100))
        return Draft("%s-%d" % (self.name, self.count), handler, payload, options)

    def soon(self, least, most):
        return instant(self.world.now() + self.rng.randint(least, most))

    def any(self):
        rng = self.rng
        kind = rng.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
        return self.one(kind)

    def one(self, kind):
        return KINDS[kind][1](self, self.rng)


KINDS = {
    "chore": (20, lambda d, r: d.make("chore", {"ms": r.randrange(4)})),
    "slow": (6, lambda d, r: d.make("slow", {"ms": r.randint(50, 300)})),
    "flaky": (10, lambda d, r: d.make("flaky", {"fails": r.randint(1, 3), "ms": r.randrange(20)})),
    "planned": (3, lambda d, r: d.make("planned", {"fails": r.randint(0, 2)})),
    "moody": (3, lambda d, r: d.make("moody", {"fails": r.randint(0, 3)})),
    "asking": (2, lambda d, r: d.make("asking", {"fails": r.randint(0, 3), "retry": "R3/PT0.4S"})),
    "doomed": (4, lambda d, r: d.make("doomed", {"ms": r.randrange(10)})),
    "hopeless": (1, lambda d, r: d.make("hopeless")),
    "lane": (16, lambda d, r: d.make("lane", {"ms": r.randint(2, 40)}, lane=r.choice(LANES))),
    "long": (.5, lambda d, r: d.make("lane", {"ms": r.randint(2200, 2600)}, lane="long")),
    "beside": (2, lambda d, r: d.make("slow", {"ms": r.randint(50, 100)}, lane=r.choice(LANES),
                                      exclusive=False)),
    "parent": (5, lambda d, r: d.make("parent", {"ms": r.randrange(10), "children": 2,
                                                 "deep": r.randrange(3),
                                                 "fails": r.choice([0, 0, 1])},
                                      **({"lane": r.choice(LANES)} if r.random() < .5 else {}))),
    "alarm": (14, lambda d, r: d.make("alarm", {}, at=d.soon(100, 2000), priority=99)),
    "later": (5, lambda d, r: d.make("alarm", {}, after=r.randint(100, 1500) / 1000, priority=50)),
    "tick": (1, lambda d, r: d.make("tick", {}, cycle="R5/PT0.5S", misfire="all", priority=50)),
    "capped": (4, lambda d, r: d.make("capped", {"ms": r.randint(30, 120)})),
    "rated": (2, lambda d, r: d.make("rated", {"ms": 2}, priority=50)),
    "single": (6, lambda d, r: d.make("single", {"ms": r.randint(20, 150),
                                                 "key": "key-%d" % r.randrange(4)})),
    "drowsy": (3, lambda d, r: d.make("drowsy")),
    "rival": (3, lambda d, r: d.make("rival")),
    "spawn": (1, lambda d, r: d.make("spawn")),
    "outer": (8, lambda d, r: d.make("topic/outer", {"ms": r.randrange(150), "fails": r.choice([0, 0, 0, 1])},
                                     **({"lane": r.choice(LANES)} if r.random() < .2 else {}))),
    "once": (2, lambda d, r: d.make("doomed", {"ms": 1}, retries=1)),
}
