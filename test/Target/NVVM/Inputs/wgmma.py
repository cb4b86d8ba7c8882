#!/usr/bin/env python3
"""Proves of the PTX of kernels that they keep the rules of wgmma.

    wgmma.py FILE.ptx ...

Prints the number of products per file; exit 1 names every instruction that breaks a rule.

A product (`wgmma.mma_async`) is asynchronous. From its start to a `wgmma.wait_group` that waits for its group it reads and writes registers
while other instructions run, so PTX leaves undefined what happens where

  1. another instruction reads or writes an accumulator, or a register that is operand A, of a product in flight. The
     next product may use the same accumulators if it has the same shape;
  2. an instruction has accessed a register of a product before it, and no `wgmma.fence` stands between. Accumulators that the product takes
     from products of the same shape need no fence. The first product of a kernel needs one in any case;
  3. a kernel ends while products are in flight.

Every move counts that LLVM has inserted: this is why the rules are checked in the PTX and not in what the compiler emitted. The assembler
takes such code without a word, and the emulator has no registers.

The check is a forward data-flow analysis over basic blocks. A state has, for each register that some product of the kernel uses,

  flight   how many `wgmma.commit_group` have followed its last product (0: it belongs to no group yet), and the product's shape or "A";
           `wgmma.wait_group N` ends those with more than N, since the newest group has 1
  touched  whether an ordinary instruction has accessed it since the last fence
  used     how products have used it since the last fence

Where paths meet, the youngest product and the union of the rest count. An instruction with a guard (@%p) may or may not run: its accesses
count, a fence, commit or wait does not.
"""
import collections
import re
import sys

Statement = collections.namedtuple("Statement", "line guard opcode operands scope")
Problem = collections.namedtuple("Problem", "kernel line text")

REGISTER = re.compile(r"[%$A-Za-z_][\w$]*")
# Larger ages are treated as this one: no wait allows that many pending groups.
OLDEST = 64


class Kernel:
    """The statements of a kernel, its labels and registers by scope, and its basic blocks."""

    def __init__(self, name, text, line):
        self.name = name
        self.statements, self.labels, self.targets = [], {}, {}
        self.scopes = [{}]  # the registers that each scope declares, true for a name that numbers follow
        self.parent = {0: None}  # the scope around each scope
        self.parse(text, line)

    def parse(self, text, line):
        """Splits |text| into statements. A brace at the start of one opens a scope, elsewhere it holds the elements of a vector."""
        scope, at, end = 0, 0, len(text)
        while at < end:
            if text[at].isspace() or text[at] == ";":
                line += text[at] == "\n"
                at += 1
            elif text[at] == "{":
                self.scopes.append({})
                self.parent[len(self.scopes) - 1] = scope
                scope = len(self.scopes) - 1
                at += 1
            elif text[at] == "}":
                scope = self.parent[scope]
                at += 1
            elif label := re.match(r"([\w$%]+)\s*:(?!:)", text[at:at + 200]):
                self.labels[scope, label.group(1)] = len(self.statements)
                self.last_label = label.group(1)
                at += label.end()
            else:
                stop = text.find(";", at)
                stop = end if stop < 0 else stop
                self.add(text[at:stop], line, scope)
                line += text.count("\n", at, stop)
                at = stop + 1

    def add(self, text, line, scope):
        text = " ".join(text.split())
        if text.startswith(".reg"):
            for name in text.split(None, 2)[2].split(","):
                self.scopes[scope][re.sub(r"<\d+>", "", name.strip())] = "<" in name
        elif text.startswith(".branchtargets"):
            self.targets[self.last_label] = text.split(None, 1)[1].split(",")
        elif not text.startswith("."):
            guard = re.match(r"@!?\S+\s+", text)
            rest = text[guard.end():] if guard else text
            opcode, _, operands = rest.partition(" ")
            self.statements.append(Statement(line, bool(guard), opcode, operands, scope))

    def registers(self, operands, scope):
        """Returns the registers that |operands| name, each with the scope that declares it."""
        found = set()
        for name in REGISTER.findall(operands):
            at = scope
            while at is not None:
                declared = self.scopes[at]
                if declared.get(name) is False or declared.get(name.rstrip("0123456789")) is True:
                    found.add((at, name))
                    break
                at = self.parent[at]
        return found

    def target(self, name, scope):
        while scope is not None:
            if (scope, name) in self.labels:
                return self.labels[scope, name]
            scope = self.parent[scope]
        sys.exit(f"{self.name}: branch to '{name}', which is no label")

    def successors(self, number):
        """Returns the statements that may follow statement |number|; None for the end of the kernel."""
        statement = self.statements[number]
        kind = statement.opcode.split(".")[0]
        after = [number + 1 if number + 1 < len(self.statements) else None]
        if kind == "bra":
            jump = [self.target(statement.operands.strip(), statement.scope)]
        elif kind == "brx":
            jump = [self.target(name.strip(), statement.scope) for name in self.targets[statement.operands.split(",")[1].strip()]]
        elif kind in ("ret", "exit"):
            jump = [None]
        elif kind == "trap":
            jump = []
        else:
            return after
        # A label after the last statement also marks the end.
        jump = [None if to == len(self.statements) else to for to in jump]
        return jump + after if statement.guard else jump


class Product:
    """The operands of a wgmma.mma_async."""

    def __init__(self, kernel, statement):
        self.shape = re.search(r"\.(m\d+n\d+k\d+)", statement.opcode).group(1)
        vectors = re.findall(r"\{([^}]*)\}", statement.operands)
        # Accumulators come first; a second vector is operand A.
        self.sums = kernel.registers(vectors[0], statement.scope)
        self.rows = kernel.registers(vectors[1], statement.scope) if len(vectors) > 1 else set()


class State:
    """The state before a statement; see the top of this file."""

    def __init__(self):
        self.flight, self.touched, self.used, self.fenced = {}, set(), {}, False

    def copy(self):
        state = State()
        state.flight, state.touched = dict(self.flight), set(self.touched)
        state.used, state.fenced = dict(self.used), self.fenced
        return state

    def key(self):
        return self.flight, self.touched, self.used, self.fenced

    def join(self, other):
        """Makes this the state of both paths; true if it has changed."""
        before = self.copy()
        for register, (age, uses) in other.flight.items():
            mine = self.flight.get(register, (age, uses))
            self.flight[register] = min(age, mine[0]), uses | mine[1]
        for register, uses in other.used.items():
            self.used[register] = uses | self.used.get(register, frozenset())
        self.touched |= other.touched
        self.fenced &= other.fenced
        return self.key() != before.key()


class Check:
    """The analysis of one kernel."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.problems = []
        self.products = {i: Product(kernel, s) for i, s in enumerate(kernel.statements) if s.opcode.startswith("wgmma.mma_async")}
        used = set().union(*(p.sums | p.rows for p in self.products.values()))
        self.accesses = [
            set() if s.opcode.startswith("wgmma.") else kernel.registers(s.operands, s.scope) & used for s in kernel.statements
        ]

    def run(self):
        starts = {0}
        for i in range(len(self.kernel.statements)):
            follow = self.kernel.successors(i)
            if follow != [i + 1]:
                starts.update(to for to in [i + 1, *follow] if to is not None and to < len(self.kernel.statements))
        entry = {0: State()}
        work = [0]
        while work:
            start = work.pop()
            state, last = self.through(start, starts, entry[start].copy(), None)
            for to in self.kernel.successors(last):
                if to is None:
                    continue
                if to not in entry:
                    entry[to] = state.copy()
                    work.append(to)
                elif entry[to].join(state) and to not in work:
                    work.append(to)
        for start in sorted(entry):
            self.through(start, starts, entry[start].copy(), self.problems)
        return self.problems

    def through(self, start, starts, state, problems):
        """Returns the state after the block at |start|, and its last statement."""
        i = start
        while True:
            self.step(i, state, problems)
            if i + 1 in starts or i + 1 == len(self.kernel.statements):
                return state, i
            i += 1

    def report(self, problems, i, text):
        if problems is not None:
            problems.append(Problem(self.kernel.name, self.kernel.statements[i].line, text))

    def step(self, i, state, problems):
        statement = self.kernel.statements[i]
        opcode = statement.opcode
        if i in self.products:
            self.multiply(i, self.products[i], state, problems)
        elif opcode.startswith("wgmma.fence"):
            if not statement.guard:
                state.touched, state.used, state.fenced = set(), {}, True
        elif opcode.startswith("wgmma.commit_group"):
            if not statement.guard:
                state.flight = {r: (min(age + 1, OLDEST), uses) for r, (age, uses) in state.flight.items()}
        elif opcode.startswith("wgmma.wait_group"):
            left = int(statement.operands)
            if not statement.guard:
                state.flight = {r: (age, uses) for r, (age, uses) in state.flight.items() if age <= left}
        else:
            for register in sorted(self.accesses[i] & state.flight.keys())[:1]:
                role = describe(min(state.flight[register][1]))
                self.report(problems, i, f"'{opcode}' accesses {register[1]}, {role} of a product in flight")
            state.touched |= self.accesses[i]
        if None in self.kernel.successors(i) and state.flight:
            self.report(problems, i, "the kernel ends while products are in flight")

    def multiply(self, i, product, state, problems):
        if not state.fenced:
            self.report(problems, i, "no wgmma.fence before the first product")
        for registers, use in ((product.sums, product.shape), (product.rows, "A")):
            for register in sorted(registers):
                others = state.flight.get(register, (0, frozenset()))[1] - {use}
                problem = None
                if others:
                    problem = f"uses {register[1]} as {describe(use)} while it is {describe(min(others))} of a product in flight"
                elif register in state.touched:
                    problem = f"no wgmma.fence between an access to {register[1]} and the product that uses it as {describe(use)}"
                elif state.used.get(register, frozenset()) - {use}:
                    problem = f"no wgmma.fence between products that use {register[1]} in different ways"
                if problem:
                    self.report(problems, i, problem)
                    break
        for registers, use in ((product.sums, product.shape), (product.rows, "A")):
            for register in registers:
                flying = state.flight.get(register, (0, frozenset()))[1]
                state.flight[register] = 0, flying | {use}
                state.used[register] = state.used.get(register, frozenset()) | {use}
        state.touched -= product.sums | product.rows  # A missing fence is reported once.


def describe(use):
    return "operand A" if use == "A" else f"an accumulator ({use})"


def split_kernels(text):
    """Yields the name, the body and the first line of every kernel of a PTX module."""
    text = re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S))
    for head in re.finditer(r"\.entry\s+([\w$]+)", text):
        parameters = "(" in text[head.end():head.end() + 3]
        begin = text.index("{", text.index(")", head.end()) if parameters else head.end()) + 1
        depth, at = 1, begin
        while depth:
            brace = re.compile(r"[{}]").search(text, at)
            if not brace:
                sys.exit(f"kernel '{head.group(1)}' has no end")
            depth += 1 if brace.group() == "{" else -1
            at = brace.end()
        yield head.group(1), text[begin:at - 1], text.count("\n", 0, begin) + 1


def check(text):
    """Returns the problems of the kernels of |text|, and how many products there are."""
    problems, products = [], 0
    for name, body, line in split_kernels(text):
        if "wgmma.mma_async" in body:
            analysis = Check(Kernel(name, body, line))
            products += len(analysis.products)
            problems += analysis.run()
    return problems, products


def main():
    failed = False
    for path in sys.argv[1:]:
        with open(path) as f:
            problems, products = check(f.read())
        for problem in problems:
            print(f"{path}:{problem.line}: {problem.kernel}: {problem.text}", file=sys.stderr)
        failed |= bool(problems)
        print(f"{path}: {products} products, {len(problems)} problems")
    sys.exit(failed)


if __name__ == "__main__":
    main()
