/** The declarations of an element, such as `display` and its value, in lower case. */
export type Style = ReadonlyMap<string, string>;

/** More style sheets than a mail has. */
const SHEET_LENGTH = 64 * 1024;
const noStyle: Style = new Map();

/** The rules of a page's style sheets for one tag, class or id; others need a whole browser. */
export class PageStyles {
  readonly #rules = new Map<string, Style>();
  /** The declarations that elements of the page have, since most are many times in it. */
  readonly #styles = new Map<string, Style>();
  /** Whether a rule that is not read may give a background. */
  hasOtherBackgrounds = false;

  /** Reads a style sheet without the rules for some screens (`@media`). */
  add(sheet: string): void {
    const text = sheet
      .slice(0, SHEET_LENGTH)
      .split("*/")
      .map((part) => part.split("/*", 1)[0])
      .join(" ");
    let [depth, start, selector] = [0, 0, ""];
    for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
      if (brace === "{" && depth === 0)
        selector = text.slice(start, index).toLowerCase().split(";").at(-1) ?? "";
      if (brace === "}" && depth === 1) this.#addRule(selector, text.slice(start, index));
      depth = Math.max(0, depth + (brace === "{" ? 1 : -1));
      start = index + 1;
    }
  }

  #addRule(selectors: string, body: string): void {
    if (selectors.trim().startsWith("@")) return;
    for (const selector of selectors.split(",", 100).map((one) => one.trim())) {
      if (/^(?:[a-z][a-z\d]*|[a-z\d]*[.#][\w-]+)$/.test(selector)) {
        this.#rules.set(
          selector,
          new Map([...(this.#rules.get(selector) ?? []), ...parseStyle(body)]),
        );
      } else if (body.includes("background")) this.hasOtherBackgrounds = true;
    }
  }

  /** Returns the style of an element: of its tag, classes and id, then its own. */
  styleOf(tag: string, attributes: Readonly<Record<string, string>>): Style {
    const own = this.#parse(attributes["style"]);
    if (this.#rules.size === 0) return own;
    const classes = attributes["class"]?.toLowerCase().split(/\s+/, 20) ?? [];
    const id = attributes["id"]?.toLowerCase();
    const selectors = [
      tag,
      ...classes.flatMap((name) => [`.${name}`, `${tag}.${name}`]),
      ...(id === undefined ? [] : [`#${id}`, `${tag}#${id}`]),
    ];
    const rules = selectors.flatMap((selector) => this.#rules.get(selector) ?? []);
    if (rules.length === 0) return own;
    const style = new Map<string, string>();
    for (const rule of [...rules, own]) for (const [name, value] of rule) style.set(name, value);
    return style;
  }

  #parse(declarations: string | undefined): Style {
    if (declarations === undefined) return noStyle;
    const style = this.#styles.get(declarations) ?? parseStyle(declarations);
    this.#styles.set(declarations, style);
    return style;
  }
}

function parseStyle(style: string): Style {
  const declarations = style.slice(0, 2000).toLowerCase().split(";");
  return new Map(
    declarations.map((declaration) => {
      const [name = "", value = ""] = declaration.split(":", 2);
      return [name.trim(), value.replace("!important", "").trim()];
    }),
  );
}

/** Values that leave nothing to see; the clips are those of texts for screen readers. */
const hiddenValues: readonly (readonly [name: string, value: RegExp])[] = [
  ["display", /^none$/],
  ["visibility", /^(?:hidden|collapse)$/],
  [
    "clip",
    /^rect\(\s{0,5}[01](?:px)?\s{0,5}[, ]\s{0,5}[01](?:px)?\s{0,5}[, ]\s{0,5}[01](?:px)?\s{0,5}[, ]/,
  ],
  ["clip-path", /^inset\(\s{0,5}(?:50|100)%/],
  ["transform", /^scale\(\s{0,5}0\s{0,5}[,)]/],
  ["mso-hide", /^all$/],
];

/** Returns whether a style hides an element and all in it: also off the screen, or of one pixel. */
export function hides(style: Style): boolean {
  if (style.size === 0) return false;
  if (hiddenValues.some(([name, value]) => value.test(style.get(name) ?? ""))) return true;
  if (isFaint(style.get("opacity"))) return true;
  if (isDot(style.get("max-height")) || isDot(style.get("max-width"))) return true;
  if (
    ["left", "top", "text-indent", "margin-left", "margin-top"].some((name) =>
      isFarOff(style.get(name)),
    )
  )
    return true;
  const isClipped = style.get("overflow") === "hidden";
  return isClipped && (isDot(style.get("height")) || isDot(style.get("width")));
}

/** Returns whether an opacity leaves too little to read. */
function isFaint(opacity: string | undefined): boolean {
  return opacity !== undefined && /^(?:0|0?\.0[0-5]?\d{0,10}|[0-5](?:\.\d{1,10})?%)$/.test(opacity);
}

function isFarOff(length: string | undefined): boolean {
  return (
    length !== undefined &&
    /^-(?:[5-9]\d\d|\d{4,9})(?:\.\d{1,10})?(?:px|pt|em|rem|%)?$/.test(length)
  );
}

/** Returns whether a size is zero. */
export function isZero(size: string | undefined): boolean {
  return size !== undefined && /^0(?:\.0{1,10})?(?:px|pt|em|rem|ex|ch|%|vh|vw)?$/.test(size.trim());
}

/** Returns whether a size is at most one pixel. */
export function isDot(size: string | undefined): boolean {
  return isZero(size) || (size !== undefined && /^(?:1|0?\.\d{1,10})(?:px|pt)?$/.test(size.trim()));
}

const namedColours: Readonly<Record<string, string>> = { white: "255,255,255", black: "0,0,0" };

/** Returns a colour as `red,green,blue`; undefined if it is not known, `transparent` if it has none. */
export function parseColour(text = ""): string | undefined {
  const colour = text.trim();
  const [, alpha] = /^rgba\([^)]{1,40}[,/]\s{0,5}([\d.%]{1,12})\s{0,5}\)$/.exec(colour) ?? [];
  if (colour === "transparent" || isFaint(alpha)) return "transparent";
  const [, short, long, numbers] =
    /^(?:#([\da-f]{3})|#([\da-f]{6})|rgb\(\s{0,5}(\d{1,3}\s{0,5},\s{0,5}\d{1,3}\s{0,5},\s{0,5}\d{1,3})\s{0,5}\))$/.exec(
      colour,
    ) ?? [];
  const hex = long ?? short?.replace(/./g, "$&$&");
  if (hex !== undefined)
    return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(",");
  return (
    numbers?.replace(/\s/g, "") ??
    (Object.hasOwn(namedColours, colour) ? namedColours[colour] : undefined)
  );
}

/** The difference of red, green or blue that a reader may see, of 255; chosen, not measured. */
const SEEN_DIFFERENCE = 16;

/** Returns whether a text of a colour is lost on its background; not if one of them is not known. */
export function isSameColour(colour: string, background = ""): boolean {
  const [one, other] = [colour, background].map((parts) => parts.split(",").map(Number));
  return (
    one?.length === other?.length &&
    one?.every((part, at) => Math.abs(part - (other?.[at] ?? NaN)) <= SEEN_DIFFERENCE) === true
  );
}

/** Returns the size of a style's text: `font-size`, or the one in `font`. */
export function fontSize(style: Style): string | undefined {
  const font = /(?:^|\s)(0|\d{0,5}\.?\d{1,5}(?:px|pt|em|rem|%))(?=[/\s])/.exec(
    style.get("font") ?? "",
  );
  return style.get("font-size") ?? font?.[1];
}
