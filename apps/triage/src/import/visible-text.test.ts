import { expect, test } from "vitest";
import { toVisibleText, visiblePlainText } from "./visible-text.ts";

test.each([
  "<!DOCTYPE html><title>x",
  "<HTML lang=en>Hi",
  '<?xml version="1.0"?>\r\n  <html>',
  "Hi<br>you<br />and <a href=x>me",
  "<p class='x'>a</P><td>",
])("%j is HTML", (text) => {
  expect(visiblePlainText(text)).toBe(toVisibleText(text));
  expect(visiblePlainText(text)).not.toBe(text);
});

test.each([
  "Write <html first",
  "In <!doctype html> it begins",
  '<?xml version="1.0"?> and words',
  "Hi <br> and <b> you",
  "<pre><article><abc>",
  "< p>< p>< p>",
  `${"x".repeat(10_000)}<p><p><p>`,
])("%j is no HTML", (text) => {
  expect(visiblePlainText(text)).toBe(text);
});

test.each(["head", "noscript", "object", "script", "style", "svg", "template", "title"])(
  "what stands in <%s> is not seen",
  (name) => {
    expect(toVisibleText(`a<${name}>b</${name}>c`)).toBe("a c");
  },
);

test.each(
  "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var".split(
    " ",
  ),
)("<%s> stands in a word, and breaks none", (name) => {
  expect(toVisibleText(`on<${name}>l</${name}>y`)).toBe("only");
});

test("a break in a word breaks none, and any other element does", () => {
  expect(toVisibleText("long<wbr>word<br>next<p>one</p>two<td>three")).toBe(
    "longword next one two three",
  );
});

test.each([
  "hidden",
  "style='display:none'",
  "style='color: red; DISPLAY : None !important'",
  "style='visibility:hidden'",
  "style='mso-hide:all'",
  "style='opacity:0'",
  "style='opacity: 0.0'",
  "style='max-height:0px'",
  "style='max-width:0'",
  "style='overflow:hidden;height:0pt'",
  "style='overflow:hidden; width:0%'",
  "style='font-size:0'",
  "style='font-size: 0em'",
  "style='font-size: 0.00px'",
])("a reader does not see a <div %s>", (attribute) => {
  expect(toVisibleText(`a<div ${attribute}>b<i>c</i></div>d`)).toBe("a d");
});

test.each([
  "",
  "style='display:block'",
  "style='visibility:visible'",
  "style='mso-hide:none'",
  "style='opacity:0.5'",
  "style='opacity:10'",
  "style='max-height:100px;max-width:10px'",
  "style='overflow:hidden;height:10px;width:20px'",
  "style='overflow:auto;height:0;width:0'",
  "style='font-size:10px'",
  "style='font-size:0.9em'",
  "style='none:display'",
  "style='none;display'",
])("a reader sees a <div %s>", (attribute) => {
  expect(toVisibleText(`a<div ${attribute}>b<i>c</i></div>d`)).toBe("a bc d");
});

test("text in a hidden element stays hidden, and text without size may have one again", () => {
  const inner = "<p style='display:block;font-size:9px'>b</p>";
  expect(toVisibleText(`a<div hidden>${inner}</div>c`)).toBe("a c");
  expect(toVisibleText(`a<div style='font-size:0'>x${inner}x</div>c`)).toBe("a b c");
});

test.each([
  ["<img alt='Pay now'>", "Pay now"],
  ["a<img alt='Pay now'>b", "a Pay now b"],
  ["<img alt='Pay' width=100 height=10>", "Pay"],
  ["<img alt='Pay' width=11px height=21px>", "Pay"],
  ["<img alt='Pay' width=1>", ""],
  ["<img alt='Pay' height=' 1px '>", ""],
  ["<img alt='Pay' height=0>", ""],
  ["<img alt='Pay' width=' 0px '>", ""],
  ["<img alt='Pay' hidden>", ""],
  ["<img>", "(This mail shows images alone.)"],
  ["<img> \n", "(This mail shows images alone.)"],
  ["<img>a", "a"],
  ["<input alt='Pay'>", ""],
  ["", ""],
])("of %j a reader sees %j", (page, seen) => {
  expect(toVisibleText(page)).toBe(seen);
});

test("white space of any kind is one space, and entities are their characters", () => {
  expect(toVisibleText(" a\n\t b&nbsp;&amp;\u2003c ")).toBe("a b & c");
});

test("no more of a page is read than a model is given", () => {
  const page = `${"word ".repeat(10_000)}end`;
  expect(toVisibleText(page).length).toBeGreaterThanOrEqual(2100);
  expect(toVisibleText(page).length).toBeLessThan(6000);
  expect(toVisibleText(`${"<i hidden>x</i>".repeat(40_000)}late`)).toBe("");
});

test("of a page that is deeper than any, all text is there, hidden text too", () => {
  const deep = "<p><b>".repeat(300);
  expect(toVisibleText(`${deep}a<i hidden>b</i>  c`)).toBe("a b c");
  const notSoDeep = "<b>".repeat(400);
  expect(toVisibleText(`${notSoDeep}a<i hidden>b</i>c`)).toBe("ac");
});

test.each([
  ["<style>.x { display: none }</style>a<div class='y x'>b</div>c", "a c"],
  ["<style>/* .x{} */ div.x, p { opacity: 0 } .y{}</style>a<div class=x>b</div><p>b</p>c", "a c"],
  ["<style>#x{display:none}</style>a<div id=x>b</div>c", "a c"],
  ["<style>.x{display:none}</style>a<div class=x style='display:block'>b</div>c", "a b c"],
  ["<style>@media screen { .x { display: none } }</style>a<div class=x>b</div>c", "a b c"],
  ["<style>td .x{display:none}</style>a<div class=x>b</div>c", "a b c"],
  ["<style>@import 'a.css'; .x{display:none}</style>a<div class=x>b</div>c", "a c"],
])("the style sheet of %j hides what it names", (html, text) => {
  expect(toVisibleText(html)).toBe(text);
});

test.each([
  ["position:absolute;left:-9999px", "a d"],
  ["text-indent:-999px", "a d"],
  ["margin-left:-20px", "a b d"],
  ["max-height:1px", "a d"],
  ["visibility:collapse", "a d"],
  ["position:absolute;clip:rect(0,0,0,0)", "a d"],
  ["position:absolute;clip:rect(1px, 1px, 1px, 1px)", "a d"],
  ["clip:rect(0px,60px,200px,0px)", "a b d"],
  ["clip-path:inset(100%)", "a d"],
  ["transform:scale(0)", "a d"],
  ["transform:scale(0.9)", "a b d"],
  ["mso-hide:all", "a d"],
  ["overflow:hidden;height:1px", "a d"],
  ["font-size:1px", "a d"],
  ["color:#fff", "a d"],
  ["color:white", "a d"],
  ["color:#fefefe", "a d"],
  ["color:#f0f0f0", "a d"],
  ["color:#e8e8e8", "a b d"],
  ["color:rgba(0, 0, 0, 0.01)", "a d"],
  ["color:rgba(0, 0, 0, 0.6)", "a b d"],
  ["opacity:0.02", "a d"],
  ["opacity:0.1", "a b d"],
  ["font:0/0 a", "a d"],
  ["font:bold 1px/2 arial", "a d"],
  ["font:italic 700 12px/0 arial", "a b d"],
  ["color:rgb(255, 255, 255)", "a d"],
  ["color:transparent", "a d"],
  ["color:rgba(1,2,3,0)", "a d"],
  ["color:#fff;background:#000", "a b d"],
  ["color:#fff;background-image:url(x)", "a b d"],
  ["color:#fff;background:navy", "a b d"],
  ["background:#000000;color:#000", "a d"],
  ["background:#fff url(x)", "a b d"],
])("text with the style %j is seen as a reader sees it", (style, text) => {
  expect(toVisibleText(`a<div style="${style}">b</div>d`)).toBe(text);
});

test("the colour behind a text is that of the elements around it", () => {
  const button = "<a style='color:#fff'>b</a>";
  expect(toVisibleText(`a<table bgcolor=#FFFFFF><td>${button}</table>`)).toBe("a");
  expect(toVisibleText(`a<table bgcolor=#112233><td>${button}</table>`)).toBe("a b");
  expect(toVisibleText(`a<table background=x.png><td>${button}</table>`)).toBe("a b");
  expect(toVisibleText(`<style>td a{background:#000}</style>a<td>${button}`)).toBe("a b");
  expect(toVisibleText("<body bgcolor=black text=white>a<font color=black>b</font>")).toBe("a");
});

test.each([
  "<style>.a{",
  "<style>}</style>",
  "/*",
  ".x{color:red}",
  "<p style='color:#fff'>",
  "\u200c",
  "\u200c\u00a0",
])("a page of a row of %j takes linear time", (piece) => {
  expect(toVisibleText(`<style>${piece.repeat(100_000)}`)).toBeTypeOf("string");
  expect(toVisibleText(piece.repeat(100_000))).toBeTypeOf("string");
});
