# ===- chat_grammar.py - Random chat templates -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes random templates: statements and expressions of every kind that chat templates use, and values for them."""

import random

STRINGS = [
    "",
    "a",
    "Hello World",
    "  x y ",
    "a,b,,c",
    "user",
    "ß ÑandÜ",
    "İǅ ŉ ﬁ",
    "ΑΣ ΣΑΣ.",
    "line1\nline2\r\n\n line4",
    'it\'s "q" \\',
    "世界 🎉 e\u0301",
    "0x1F",
    "-12",
    " 3.5e2 ",
    "1_000",
    "<b>&'\"</b>",
    "\u00a0tab\t\u2028end\u200b",
    "role",
    "content",
    "xXxX",
    "%s and %d%%",
    "{} {}",
    "abcabc",
    "a-b (c d)",
]
NAMES = ["x", "y", "z", "n", "f", "t", "l", "d", "s", "u", "messages", "ns", "loop", "m", "k", "v", "bos_token", "mac", "none_value"]
FILTERS = [
    "abs",
    "capitalize",
    "count",
    "d('q')",
    "default('e', true)",
    "dictsort",
    "dictsort(true, 'value')",
    "dictsort(reverse=true)",
    "e",
    "first",
    "float",
    "float(7)",
    "indent",
    "indent(2, true)",
    "indent('> ', blank=true)",
    "int",
    "int(3, 16)",
    "int(base=0)",
    "items|list",
    "join",
    "join('-')",
    "join(', ', attribute='a')",
    "last",
    "length",
    "list",
    "lower",
    "map('upper')|list",
    "map(attribute='a')|list",
    "map(attribute='a.b', default='none')|join(',')",
    "map('default', 3)|list",
    "max",
    "min",
    "reject|list",
    "reject('none')|list",
    "rejectattr('a')|list",
    "replace('a', 'bb')",
    "replace('', '.', 3)",
    "reverse",
    "reverse|list",
    "round",
    "round(1)",
    "round(2, 'floor')",
    "round(-1)",
    "round(1, 'ceil')",
    "safe",
    "select|list",
    "select('odd')|list",
    "select('in', [1, 'a'])|list",
    "selectattr('role', 'equalto', 'user')|list",
    "selectattr('a', 'defined')|list|length",
    "slice(2)|list",
    "sort",
    "sort(reverse=true)",
    "sort(attribute='a')",
    "sort(case_sensitive=true)",
    "string",
    "sum",
    "title",
    "tojson",
    "tojson(indent=2)",
    "tojson(ensure_ascii=true, separators=(',', ':'))",
    "tojson(sort_keys=true)",
    "trim",
    "trim('a ')",
    "truncate(8)",
    "truncate(5, true, '..')",
    "unique|list",
    "upper",
    "batch(2)|list",
    "batch(3, 'f')|list",
    "center(9)",
    "attr('a')",
    "format(1)",
    "format('a', 2)",
]
TESTS = [
    "defined",
    "undefined",
    "none",
    "string",
    "mapping",
    "iterable",
    "sequence",
    "number",
    "integer",
    "float",
    "boolean",
    "true",
    "false",
    "odd",
    "even",
    "divisibleby 3",
    "divisibleby(2)",
    "eq 1",
    "equalto('a')",
    "ne none",
    "lt 2",
    "gt(1)",
    "ge 'a'",
    "le 1.5",
    "in [1, 'a', none]",
    "in 'abc'",
    "sameas true",
    "sameas none",
    "callable",
    "lower",
    "upper",
    "escaped",
]
METHODS = [
    "strip()",
    "strip('a ')",
    "lstrip()",
    "rstrip()",
    "rstrip('\\n')",
    "split()",
    "split(',')",
    "split('b', 1)",
    "split(none, 1)",
    "rsplit('b', 1)",
    "rsplit()",
    "rsplit(none, 1)",
    "splitlines()",
    "splitlines(true)",
    "startswith('a')",
    "startswith(('H', 'a'))",
    "endswith('c')",
    "endswith('', 2)",
    "upper()",
    "lower()",
    "title()",
    "capitalize()",
    "replace('a', 'Z')",
    "replace('b', '', 1)",
    "find('b')",
    "rfind('a', 1)",
    "index('a')",
    "count('a')",
    "join(['p', 'q'])",
    "join(s)",
    "isdigit()",
    "isalpha()",
    "isalnum()",
    "isspace()",
    "isupper()",
    "islower()",
    "isnumeric()",
    "isdecimal()",
    "isascii()",
    "partition(',')",
    "rpartition('b')",
    "removeprefix('a')",
    "removesuffix('c')",
    "center(7)",
    "ljust(6, '*')",
    "rjust(6)",
    "zfill(5)",
    "format(1, 2)",
    "items()",
    "keys()",
    "values()",
    "items()|list",
    "keys()|list",
    "get('a')",
    "get('zz', 5)",
    "get('role')",
    "copy()",
    "index(1)",
    "count(1)",
    "append(1)",
    "pop()",
    "update({})",
    "cycle('o', 'e')",
    "changed(x)",
    "nosuch()",
]
ATTRIBUTES = [
    "a",
    "b",
    "role",
    "content",
    "index",
    "index0",
    "first",
    "last",
    "length",
    "previtem",
    "nextitem",
    "revindex",
    "revindex0",
    "depth",
    "name",
    "arguments",
    "append",
    "items",
    "x",
    "__class__",
    "nosuch",
    "0",
]
INTEGERS = ["0", "1", "2", "3", "-1", "7", "10", "100", "1_0", "0x1f", "0b11", "9007199254740993", "4611686018427387904"]
FLOATS = ["0.5", "1.5", "2.0", "1e3", "1.25", "2.675", "1e22", "1e-7", "123456789.123", "0.1", "1e16", "1e15", "5e-324"]


# Filters that values of these variables have.
FITTING = {
    "s": "trim upper title indent list length first tojson e reverse int float truncate(4) capitalize".split(),
    "l": "length list first last tojson join batch(2)|list slice(2)|list select|list string".split(),
    "d": "dictsort items|list length tojson list string".split(),
    "n": "abs round float int string tojson".split(),
    "f": "abs round(1) int string tojson round(0,'ceil')".split(),
    "messages": "length map(attribute='role')|list selectattr('role','eq','user')|list tojson first last".split(),
}


class Grammar:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.loops = 0
        self.deepest = self.rng.choice([0, 1, 1, 2, 2, 3, 4])

    def one(self, *makers):
        return self.rng.choice(makers)()

    def value(self, depth=0):
        rng = self.rng
        kind = rng.randrange(9 if depth < 3 else 6)
        if kind < 2:
            return rng.choice(STRINGS)
        if kind == 2:
            return rng.choice([0, 1, 2, 3, -5, 42, 10**12])
        if kind == 3:
            return rng.choice([0.5, -0.0, 1.0, 2.5, 1e100, 3.14159, 1e-10, 0.1 + 0.2])
        if kind == 4:
            return rng.choice([True, False])
        if kind == 5:
            return None
        if kind == 6:
            return [self.value(depth + 1) for _ in range(rng.randrange(4))]
        return {rng.choice(["a", "b", "role", "content", "x", "ü", "items"]): self.value(depth + 1) for _ in range(rng.randrange(4))}

    def variables(self):
        rng = self.rng
        return {
            "messages": [
                {
                    "role": rng.choice(["user", "assistant", "system", "tool"]),
                    "content": rng.choice(STRINGS),
                    **({"a": self.value(2)} if rng.random() < 0.3 else {}),
                }
                for _ in range(rng.randrange(1, 4))
            ],
            "x": self.value(),
            "y": self.value(),
            "n": rng.choice([0, 1, 2, 3, 5, -3]),
            "f": rng.choice([0.5, 2.5, -1.5, 1e17]),
            "t": rng.choice([True, False]),
            "l": [self.value(2) for _ in range(rng.randrange(5))],
            "d": {key: self.value(2) for key in rng.sample(["a", "b", "role", "B", "zz"], rng.randrange(4))},
            "s": rng.choice(STRINGS),
            "none_value": None,
            "u": [{"a": rng.choice([1, 2, "x", "X", None]), "role": "user"} for _ in range(rng.randrange(3))],
        }

    def literal(self):
        rng = self.rng
        kind = rng.randrange(6)
        if kind < 2:
            text = rng.choice(STRINGS)
            quote = rng.choice("'\"")
            text = text.replace("\\", "\\\\").replace("\n", rng.choice(["\\n", "\n"])).replace("\r", "\\r").replace(quote, "\\" + quote)
            return quote + text + quote
        if kind == 2:
            return rng.choice(INTEGERS)
        if kind == 3:
            return rng.choice(FLOATS)
        return rng.choice(["true", "false", "none", "True", "'\\u00e9\\x41\\101\\q\\é'"])

    def expression(self, depth=0):
        rng = self.rng
        if depth > self.deepest or rng.random() < 0.25:
            return rng.choice([self.literal, lambda: rng.choice(NAMES), lambda: rng.choice(NAMES)])()
        e = lambda: self.expression(depth + 1)  # noqa: E731
        kind = rng.randrange(20)
        if kind == 0:
            return f"{e()} {rng.choice(['+', '-', '*', '/', '//', '%', '+', '~', '~'])} {e()}"
        if kind == 1:
            return f"({e()} {rng.choice(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {e()})"
        if kind == 2:
            return f"{e()} {rng.choice(['and', 'or'])} {e()}"
        if kind == 3:
            return f"not {e()}"
        if kind == 4:
            name = rng.choice(sorted(FITTING))
            return f"{name}|{rng.choice(FITTING[name])}"
        if kind in (5, 6):
            return f"({e()})|{rng.choice(FILTERS)}"
        if kind in (7, 8):
            # Chooses mostly methods that the value has, since an error ends the rendering.
            dictionary, sequence = METHODS.index("items()"), METHODS.index("index(1)")
            name, methods = rng.choice(
                [
                    ("s", METHODS[:dictionary]),
                    ("bos_token", METHODS[:dictionary]),
                    ("d", METHODS[dictionary:sequence]),
                    ("l", ["count(1)", "copy()"]),
                ]
            )
            return f"{name}.{rng.choice(methods)}" if rng.random() < 0.9 else f"{rng.choice(NAMES)}.{rng.choice(METHODS)}"
        if kind == 9:
            return f"({e()}).{rng.choice(METHODS)}"
        if kind == 10:
            return f"{rng.choice(NAMES)}.{rng.choice(ATTRIBUTES)}"
        if kind == 11:
            return f"({e()})[{e()}]"
        if kind == 12:
            part = lambda: rng.choice(["", "", "1", "-1", "2", "n", "-3"])  # noqa: E731
            # Slices only names: the reference folds slices of constants by a rule that differs from its evaluation.
            return f"{rng.choice(NAMES)}[{part()}:{part()}{rng.choice(['', '', ':2', ':-1', ':'])}]"
        if kind == 13:
            return f"({e()} is {rng.choice(['', '', 'not '])}{rng.choice(TESTS)})"
        if kind == 14:
            return f"({e()} if {e()}{rng.choice(['', ' else ' + e()])})"
        if kind == 15:
            return f"[{', '.join(e() for _ in range(rng.randrange(4)))}]"
        if kind == 16:
            return "{" + ", ".join(f"{rng.choice([self.literal(), repr('a'), repr('b')])}: {e()}" for _ in range(rng.randrange(3))) + "}"
        if kind == 17:
            return f"({e()}, {e()})"
        if kind == 18:
            return rng.choice(
                [
                    f"range({e()})",
                    f"range(1, n, 2)|list",
                    f"dict(a={e()}, b=1)",
                    f"dict({e()})",
                    "namespace(a=1)",
                    "mac(1, b=2)",
                    "mac()",
                    f"mac({e()}, {e()})",
                    "strftime_now('%Y-%m-%d %-d %B %H:%M %j %a %U')",
                    "cycler(1, 2).next()",
                    "joiner()()",
                    f"mac(*{e()})",
                    f"dict(**{e()})",
                ]
            )
        return rng.choice(
            [
                f"-{e()}",
                f"+{e()}",
                f"({e()}) ** {rng.choice(['2', '3', '0.5', '-1'])}",
                f"{e()} < {e()} <= {e()}",
                f"'%s|%r' % ({e()}, {e()})",
                f"'%5d|%-4d|%05.1f' % ({e()}, {e()}, {e()})",
            ]
        )

    def space(self):
        return self.rng.choice(["", "", " ", "\n", "\n  ", "  \n", "\t", " text ", "\ndata\n", "x"])

    def tag(self, text):
        rng = self.rng
        return "{%" + rng.choice(["", "", "-", "-", "+"]) + " " + text + " " + rng.choice(["", "", "-", "+"]) + "%}"

    def body(self, depth):
        return "".join(self.statement(depth + 1) for _ in range(self.rng.randrange(1, 3)))

    def statement(self, depth=0):
        rng = self.rng
        kind = rng.randrange(19 if depth < 4 else 6)
        e = self.expression
        t = self.tag
        if kind < 5:
            return self.space() + "{{" + rng.choice(["", "", "-"]) + " " + e() + " " + rng.choice(["", "-"]) + "}}" + self.space()
        if kind == 5:
            return (
                self.space()
                + rng.choice(
                    [
                        "{# note #}",
                        "{#- note -#}",
                        "{#\n note +#}",
                        "{% raw %} {{ raw }} {% endraw %}",
                        "{%- raw -%}\n {% x %}\n {%- endraw +%}\n",
                    ]
                )
                + self.space()
            )
        if kind in (6, 7):
            return (
                self.space()
                + t("if " + e())
                + self.body(depth)
                + (t("elif " + e()) + self.body(depth) if rng.random() < 0.3 else "")
                + (t("else") + self.body(depth) if rng.random() < 0.5 else "")
                + t("endif")
                + self.space()
            )
        if kind in (8, 9, 10):
            target = rng.choice(["m", "x", "k", "k, v", "m"])
            source = rng.choice(
                [
                    "messages",
                    "l",
                    "d",
                    "d.items()",
                    "range(3)",
                    "s",
                    "u",
                    "messages|selectattr('role', 'equalto', 'user')",
                    "l|map('string')",
                    e(),
                    "messages[1:]",
                    "d|items",
                    "d|dictsort",
                    "l|reverse",
                ]
            )
            condition = rng.choice(["", "", "", " if " + e(), " if m", " if loop.index"])
            self.loops += 1
            inner = self.body(depth) + rng.choice(
                [
                    "",
                    "",
                    t("if " + e()) + t(rng.choice(["break", "continue"])) + t("endif") + self.space(),
                    "{{ loop.index }}{{ loop.last }}",
                    "{{ loop.previtem }}|{{ loop.nextitem }}",
                    "{{ loop.length }}",
                ]
            )
            self.loops -= 1
            return (
                self.space()
                + t(f"for {target} in {source}{condition}")
                + inner
                + (t("else") + self.body(depth) if rng.random() < 0.3 else "")
                + t("endfor")
                + self.space()
            )
        if kind in (11, 12):
            return (
                t(
                    f"set {rng.choice(['x', 'y', 'z', 'ns', 'l', 'mac2', 'x, y', 'm'])} = "
                    f"{rng.choice([e(), e(), 'namespace(a=1, b=[])', '(1, 2)', 'x'])}"
                )
                + self.space()
            )
        if kind == 13:
            return t(f"set ns.{rng.choice('abc')} = {e()}") + self.space()
        if kind == 14:
            return (
                t(f"set {rng.choice(['x', 'z'])}{rng.choice(['', '|upper', '|trim|length'])}")
                + self.body(depth)
                + t("endset")
                + self.space()
            )
        if kind == 15:
            return (
                t(f"macro mac({rng.choice(['', 'a', 'a, b=2', 'a, b=x, c=a'])})")
                + self.body(depth)
                + rng.choice(["", "{{ a }}{{ b }}", "{{ varargs }}{{ kwargs }}", "{{ caller() }}", "{{ caller is defined }}"])
                + t("endmacro")
                + self.space()
            )
        if kind == 16:
            return t(rng.choice(["call mac(1)", "call mac()", "call(q) mac(b=3)"])) + self.body(depth) + t("endcall")
        if kind == 17:
            return (
                t("filter " + rng.choice(["upper", "trim", "replace('a', 'b')|indent", "length", "tojson"]))
                + self.body(depth)
                + t("endfilter")
            )
        return rng.choice(
            [
                t(f"with x = {e()}, q = {e()}") + self.body(depth) + t("endwith"),
                t("generation") + self.body(depth) + t("endgeneration"),
                t(f"print {e()}, {e()}"),
            ]
        )

    def template(self):
        rng = self.rng
        start = rng.choice(
            [
                "",
                "",
                "{% set ns = namespace(a=1, b='q') %}\n",
                "{% macro mac(a, b=2) %}[{{ a }}:{{ b }}{{ varargs }}]{% endmacro %}",
                "{%- macro mac(a=1) -%} {{ caller() if caller }} {{ a }} {{ kwargs }}{%- endmacro -%}\n",
            ]
        )
        # Half of the templates set these variables; in the others the names are undefined.
        if rng.random() < 0.5:
            start += "{% set ns = namespace(a=1) %}{% set z = 'z' %}{% set m = {'a': 1} %}{% set k = [1, 2] %}"
            start += "{% set v = 'v' %}{% macro mac(a='A', b=2) %}<{{ a }}{{ b }}>{% endmacro %}"
        return start + "".join(self.statement() for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])))
