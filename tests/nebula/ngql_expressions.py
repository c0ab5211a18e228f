"""The grammar of expressions, and the cursor that walks the words of a request (sections 2, 3 and 5)."""

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, TypeVar

from graph_errors import Refused, syntax, unspoken
from graph_values import NULL
from ngql_tree import (
    Attribute,
    Binary,
    Call,
    Element,
    Expression,
    Input,
    Listed,
    Literal,
    Name,
    Parameter,
    Unary,
)
from ngql_words import END, LARGEST, Word, name_of, words_of

DEEPEST = 512
FURTHEST = 4
"""How many words any rule looks ahead."""
PLAIN = frozenset({"parameter", "string", "double", "int"})
AGGREGATES = frozenset({"count", "sum", "avg", "min", "max", "collect"})
FUNCTIONS = {
    "id": 1, "src": 1, "dst": 1, "type": 1, "rank": 1, "properties": 1, "tags": 1, "labels": 1, "size": 1, "abs": 1,
    "round": 1, "floor": 1, "exp": 1, "lower": 1, "upper": 1, "now": 0, "coalesce": 2,
}  # fmt: skip
"""Functions and their number of arguments: these are spoken here, NebulaGraph has more."""
FAR_NAMES = frozenset({"_src", "_dst", "_rank", "_type"})
COMPARING = {"==", "!=", "<>", "<", "<=", ">", ">=", "=~"}
Some = TypeVar("Some")


class Cursor:
    """The words of a request, read from the left; parameters are known by name, as graphd knows them."""

    def __init__(self, statement: str, parameters: Set[str]) -> None:
        self._words = words_of(statement) + [END] * FURTHEST
        self._at = 0
        self.parameters = parameters

    @property
    def word(self) -> Word:
        """The word that comes next."""
        return self._words[self._at]

    def ahead(self, count: int) -> Word:
        """The word `count` places after the next one."""
        return self._words[self._at + count]

    def next(self) -> Word:
        """Take the next word."""
        taken = self._words[self._at]
        if taken.kind != "end":
            self._at += 1
        return taken

    def take(self, *written: str) -> bool:
        """Take these keywords or marks if all of them come next."""
        for place, each in enumerate(written):
            if self._words[self._at + place].written != each:
                return False
        self._at += len(written)
        return True

    def expect(self, *written: str) -> None:
        """Take these, which must come next."""
        for each in written:
            if not self.take(each):
                raise self.wrong()

    def wrong(self) -> Refused:
        """The syntax error at the next word."""
        rest = " ".join(word.written for word in self._words[self._at : self._at + 6])
        return syntax(f"syntax error near `{rest}'")

    def name(self) -> str:
        """Take a name."""
        word = self.next()
        return name_of(word)

    def text(self) -> str:
        """Take a string literal."""
        if self.word.kind != "string":
            raise self.wrong()
        return str(self.next().value)

    def integer(self) -> int:
        """Take a whole number, with its sign; no parameter may stand here."""
        minus = self.take("-")
        if self.word.kind != "int":
            raise self.wrong()
        number = int(self.next().value)
        if number == LARGEST and not minus:
            raise syntax("Out of range: an integer has 64 bits")
        return -number if minus else number

    def commas(self, read: Callable[[], Some], opening: str = "", closing: str = "") -> tuple[Some, ...]:
        """One or more, with commas between; in brackets there may be none at all."""
        if opening:
            self.expect(opening)
            if self.take(closing):
                return ()
        found = [read()]
        while self.take(","):
            found.append(read())
        if closing:
            self.expect(closing)
        return tuple(found)

    def expression(self) -> Expression:
        """Read an expression of any kind; deeper than 512 it is refused (section 3)."""
        if self.word.kind in PLAIN and self._words[self._at + 1].written in (",", ")"):
            return self._atom()
        read = self._level(0)
        if depth_of(read) > DEEPEST:
            raise syntax("The above expression's depth exceeds the maximum depth:512")
        return read

    def _level(self, level: int) -> Expression:
        """Operators by how weakly they bind: OR and XOR, AND, NOT, comparisons, sums, products."""
        match level:
            case 0:
                return self._chain(1, ("OR", "XOR"))
            case 1:
                return self._chain(2, ("AND",))
            case 2:
                if self.take("NOT") or self.take("!"):
                    return Unary("NOT", self._level(2))
                return self._comparison()
            case 3:
                return self._chain(4, ("+", "-"))
            case 4:
                return self._chain(5, ("*", "/", "%"))
        return self._signed()

    def _chain(self, inner: int, operators: Sequence[str]) -> Expression:
        left = self._level(inner)
        while self.word.written in operators and self.word.kind in ("name", "mark"):
            operator = self.next().written
            left = Binary(operator, left, self._level(inner))
        return left

    def _comparison(self) -> Expression:
        left = self._level(3)
        while True:
            if self.word.kind == "mark" and self.word.written in COMPARING:
                operator = self.next().written
                left = Binary("!=" if operator == "<>" else operator, left, self._level(3))
            elif operator := self._worded():
                left = Binary(operator, left, self._level(3))
            elif self.take("IS"):
                negated = "NOT " if self.take("NOT") else ""
                tested = next((word for word in ("NULL", "EMPTY") if self.take(word)), None)
                if tested is None:
                    raise self.wrong()
                left = Unary(f"IS {negated}{tested}", left)
            else:
                return left

    def _worded(self) -> str:
        negated = "NOT " if self.word.written == "NOT" and self.word.kind == "name" else ""
        place = 1 if negated else 0
        for first, second in (("IN", ""), ("CONTAINS", ""), ("STARTS", "WITH"), ("ENDS", "WITH")):
            said = self.ahead(place)
            if (
                said.kind == "name"
                and said.written == first
                and (not second or self.ahead(place + 1).written == second)
            ):
                self._at += place + (2 if second else 1)
                return negated + (f"{first} {second}" if second else first)
        if negated:
            raise self.wrong()
        return ""

    def _signed(self) -> Expression:
        if self.word.written == "-" and self.word.kind == "mark":
            if self.ahead(1).kind == "int":
                return self._followed(Literal(self.integer()))
            self.next()
            return Unary("-", self._signed())
        return self._followed(self._atom())

    def _followed(self, of: Expression) -> Expression:
        while self.take("."):
            of = Attribute(of, self._attribute())
        return of

    def _attribute(self) -> str:
        if self.word.kind == "name" and self.word.value in FAR_NAMES:
            return str(self.next().value)
        return self.name()

    def _atom(self) -> Expression:
        word = self.word
        match word.kind:
            case "string" | "double":
                return Literal(self.next().value)
            case "int":
                return Literal(self.integer())
            case "parameter":
                return self._parameter()
            case "input":
                return self._element()
            case "name":
                return self._named(word)
            case "quoted":
                return Name(self.name())
        if self.take("("):
            inside = self._level(0)
            self.expect(")")
            return inside
        if word.written == "[" and self.ahead(1).written != "]":
            return Listed(self.commas(lambda: self._level(0), "[", "]"))
        raise self.wrong()

    def _parameter(self) -> Expression:
        name = str(self.next().value)
        if name not in self.parameters and self.word.written == ".":
            raise unspoken(f"variables, as ${name}.")
        return Parameter(name)

    def _element(self) -> Expression:
        kind = self.next().written
        if kind != "$-":
            return Element(kind)
        self.expect(".")
        return Input(self.name())

    def _named(self, word: Word) -> Expression:
        if word.written in ("TRUE", "FALSE"):
            return Literal(self.next().written == "TRUE")
        if self.take("NULL"):
            return Literal(NULL)
        if word.written in ("VERTEX", "EDGE"):
            return Element(self.next().written.lower())
        if word.written == "LIST" and self.ahead(1).written == "[":
            self.next()
            return Listed(self.commas(lambda: self._level(0), "[", "]"))
        if self.ahead(1).written == "(" and self.ahead(1).kind == "mark":
            return self._call()
        return Name(self.name())

    def _call(self) -> Expression:
        written = str(self.next().value)
        function = written.lower()
        self.expect("(")
        if function == "count" and self.take("*"):
            self.expect(")")
            return Call(function, ())
        distinct = self.take("DISTINCT")
        arguments = () if self.word.written == ")" else self.commas(lambda: self._level(0))
        self.expect(")")
        wanted = 1 if function in AGGREGATES else FUNCTIONS.get(function)
        if wanted is None or (len(arguments) != wanted and function != "coalesce"):
            raise syntax(f"Unknown function `{written}' near `{written}'")
        return Call(function, arguments, distinct)


def walk(said: Any) -> Iterator[Any]:
    """Every part of an expression or a statement, in no order to count on."""
    waiting = [said]
    while waiting:
        part = waiting.pop()
        if type(part) is tuple:
            waiting.extend(part)
        elif hasattr(part, "__dataclass_fields__"):
            yield part
            waiting.extend(vars(part).values())


def depth_of(expression: Expression) -> int:
    """How many expressions lie in one another; a chain of a left-hand operator is as deep as it is long."""
    depth, inside = 1, 0
    while isinstance(expression, Binary):
        inside = max(inside, depth + depth_of(expression.right))
        expression, depth = expression.left, depth + 1
    match expression:
        case Attribute(of, _) | Unary(_, of):
            return max(inside, depth + depth_of(of))
        case Call(_, parts, _) | Listed(parts):
            return max([inside, depth, *(depth + depth_of(each) for each in parts)])
    return max(inside, depth)
