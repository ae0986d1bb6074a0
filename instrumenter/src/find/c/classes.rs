//! The classes around a function of C++, from tokens alone.

use super::brackets::Brackets;
use super::is_word;
use super::lexer::{Token, TokenKind};

/// The names of the classes whose bodies contain a token, outermost first. Only classes around
/// the innermost function count.
pub(super) fn around(text: &[u8], tokens: &[Token], brackets: &Brackets, at: usize) -> Vec<String> {
    let braces = brackets
        .all_around(at)
        .filter(|&open| tokens[open].is(b'{'));
    let bodies = braces.map(|open| name(text, tokens, open));
    // The blocks of the function come first, then its classes. The classes may be inside
    // another function; everything from there on is ignored.
    let classes = bodies.skip_while(Option::is_none).map_while(|name| name);
    let mut names: Vec<String> = classes.collect();
    names.reverse();
    names
}

/// The name of the class whose body a brace opens: `struct A::B final : C {`.
fn name(text: &[u8], tokens: &[Token], open: usize) -> Option<String> {
    let is_end = |token: &Token| [b';', b'{', b'}'].iter().any(|mark| token.is(*mark));
    let first = tokens[..open]
        .iter()
        .rposition(is_end)
        .map_or(0, |end| end + 1);
    let is_keyword = |at: &usize| {
        let mut words = ["class", "struct", "union"].iter();
        words.any(|word| is_word(text, &tokens[*at], word))
    };
    (first..open)
        .filter(is_keyword)
        .find_map(|keyword| named(text, tokens, keyword + 1, open))
}

/// The last name among the tokens from `at` on. None unless these tokens are followed by the
/// brace, the bases, or the arguments of a specialisation. Macros may stand in front of the
/// name.
fn named(text: &[u8], tokens: &[Token], at: usize, open: usize) -> Option<String> {
    let is_part =
        |token: &Token| matches!(token.kind, TokenKind::Identifier | TokenKind::DoubleColon);
    let end = tokens[at..open].iter().position(|token| !is_part(token));
    let end = end.map_or(open, |length| at + length);
    let is_head = end == open || tokens[end].is(b':') || tokens[end].is(b'<');
    let mut name = String::new();
    let mut last_is_word = false;
    for token in tokens[at..end]
        .iter()
        .filter(|token| !is_word(text, token, "final"))
    {
        let is_identifier = token.kind == TokenKind::Identifier;
        if is_identifier && last_is_word {
            name.clear();
        }
        name += &super::text_of(text, token);
        last_is_word = is_identifier;
    }
    (is_head && last_is_word).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    /// The classes around the `@` in a text.
    fn found(source: &str) -> String {
        let text = source.as_bytes();
        let tokens = lex(text).code;
        let brackets = Brackets::new(&tokens);
        let at = source.find('@').unwrap();
        let at = tokens.partition_point(|token| token.start() < at);
        around(text, &tokens, &brackets, at).join("::")
    }

    #[test]
    fn a_method_is_of_the_classes_around_it() {
        for (source, classes) in [
            ("void f() { @ }", ""),
            ("struct A { void f() { if (x) { @ } } };", "A"),
            ("struct A { void f() { @ } };", "A"),
            (
                "namespace n { class A { public: struct B { void f() { @ } }; }; }",
                "A::B",
            ),
            (
                "class API A final : public B<int>, C { int f() const { @ } };",
                "A",
            ),
            ("template <class T> struct A<T *> { void f() { @ } };", "A"),
            ("template <class T> void f(struct S s) { @ }", ""),
            ("struct S f(int a) { @ }", ""),
            ("struct S *f() { { @ } }", ""),
            (
                "struct A { void f() { struct B { void g() { @ } }; } };",
                "B",
            ),
            ("struct A::B { void f() { @ } };", "A::B"),
            ("struct { void f() { @ } } a;", ""),
            ("struct A { int a; }; void f() { @ }", ""),
            ("union U { void f() { auto g = [] { @ }; } };", "U"),
        ] {
            assert_eq!(found(source), classes, "{source}");
        }
    }
}
