//! C++: loops over ranges, which have no variable that tells where they stand.
//!
//! The range is wrapped. The iterators of the wrapped range are those of the range, and each has the
//! number of its element. The language reads an element once in front of each execution of the
//! body, and this read notes the number in a local variable of the thread. What the loop reads, and
//! in which order, is what it would be without. A temporary range is moved into the wrapper, which
//! lives as long as it would.

/// The templates. Begin and end of a range are found as the language finds them. A file may have such
/// a loop in a branch that older standards do not see.
pub(super) fn templates(unique: &str) -> String {
    let at = format!("romp_at_{unique}");
    let place = format!("romp_new_{unique}");
    let over = format!("romp_range_{unique}");
    let mut text = String::from("#if __cplusplus >= 201103L\n");
    for end in ["begin", "end"] {
        let find = format!("romp_{end}_{unique}");
        let array = match end {
            "begin" => "array",
            _ => "array + N",
        };
        text += &format!(
            "template <class R> inline auto {find}(R &range, int) -> decltype(range.{end}()) \
             {{ return range.{end}(); }}\n\
             template <class R> inline auto {find}(R &range, long) -> decltype({end}(range)) \
             {{ return {end}(range); }}\n\
             template <class T, decltype(sizeof(0)) N> inline T *{find}(T (&array)[N], int) \
             {{ return {array}; }}\n"
        );
    }
    text += &format!(
        "template <class I> struct {at} {{ I romp_it; long romp_number, *romp_noted; \
         auto operator*() -> decltype(*romp_it) {{ *romp_noted = romp_number; return *romp_it; }} \
         {at} &operator+=(long by) {{ romp_it += by; romp_number += by; return *this; }} \
         {at} &operator++() {{ ++romp_it; ++romp_number; return *this; }} \
         {at} operator+(long by) const {{ {at} sum = *this; sum += by; return sum; }} \
         long operator-(const {at} &other) const {{ return romp_number - other.romp_number; }} \
         bool operator!=(const {at} &other) const {{ return romp_number != other.romp_number; }} \
         bool operator<(const {at} &other) const {{ return romp_number < other.romp_number; }} \
         }};\n\
         template <class I> inline {at}<I> {place}(I it, long number, long *noted) \
         {{ return {at}<I>{{it, number, noted}}; }}\n\
         template <class R> inline long romp_size_{unique}(R &&range) {{ return static_cast<long>(\
         romp_end_{unique}(range, 0) - romp_begin_{unique}(range, 0)); }}\n\
         template <class R> struct {over} {{ R romp_range; long *romp_noted; \
         auto begin() -> decltype({place}(romp_begin_{unique}(romp_range, 0), 0L, romp_noted)) \
         {{ return {place}(romp_begin_{unique}(romp_range, 0), 0L, romp_noted); }} \
         auto end() -> decltype({place}(romp_begin_{unique}(romp_range, 0), 0L, romp_noted)) \
         {{ return begin() + romp_size_{unique}(romp_range); }} }};\n\
         template <class R> inline {over}<R> romp_over_{unique}(R &&range, long *noted) \
         {{ return {over}<R>{{static_cast<R &&>(range), noted}}; }}\n\
         #endif\n"
    );
    text
}

/// The number of elements of a range.
pub(super) fn size(unique: &str, range: &str) -> String {
    format!("romp_size_{unique}({range})")
}

/// What stands in front of a range and behind it, so that it notes the place in a variable.
pub(super) fn around(unique: &str, place: &str) -> (String, String) {
    (format!("romp_over_{unique}("), format!(", &{place})"))
}
