/** The declarations of an element, such as `display` and its value, in lower case. */
export type Style = ReadonlyMap<string, string>;

/** More style sheets than a mail has. */
const SHEET_LENGTH = 64 * 1024;
const noStyle: Style = new Map();

/** The rules of a page's style sheets for one tag, class or id; others need a whole browser. */
export class PageStyles {
  readonly #rulesBySelector = new Map<string, Style>();
  /** The declarations that elements of the page have, since most are many times in it. */
  readonly #parsedStyles = new Map<string, Style>();
  /** Whether a rule that is not read may give a background. */
  hasOtherBackgrounds = false;

  /** Reads a style sheet without the rules for some screens (`@media`). */
  addSheet(sheetText: string): void {
    const rulesText = sheetText
      .slice(0, SHEET_LENGTH)
      .split("*/")
      .map((sheetPart) => sheetPart.split("/*", 1)[0])
      .join(" ");
    let [braceDepth, ruleStart, selector] = [0, 0, ""];
    for (const { 0: brace, index } of rulesText.matchAll(/[{}]/g)) {
      if (brace === "{" && braceDepth === 0)
        selector = rulesText.slice(ruleStart, index).toLowerCase().split(";").at(-1) ?? "";
      if (brace === "}" && braceDepth === 1)
        this.#addRule(selector, rulesText.slice(ruleStart, index));
      braceDepth = Math.max(0, braceDepth + (brace === "{" ? 1 : -1));
      ruleStart = index + 1;
    }
  }

  #addRule(selectors: string, declarations: string): void {
    if (selectors.trim().startsWith("@")) return;
    for (const selector of selectors.split(",", 100).map((selectorText) => selectorText.trim())) {
      if (/^(?:[a-z][a-z\d]*|[a-z\d]*[.#][\w-]+)$/.test(selector)) {
        this.#rulesBySelector.set(
          selector,
          new Map([...(this.#rulesBySelector.get(selector) ?? []), ...parseStyle(declarations)]),
        );
      } else if (declarations.includes("background")) this.hasOtherBackgrounds = true;
    }
  }

  /** Returns the style of an element: of its tag, classes and id, then its own. */
  styleOf(tagName: string, attributes: Readonly<Record<string, string>>): Style {
    const ownStyle = this.#parseDeclarations(attributes["style"]);
    if (this.#rulesBySelector.size === 0) return ownStyle;
    const classes = attributes["class"]?.toLowerCase().split(/\s+/, 20) ?? [];
    const elementId = attributes["id"]?.toLowerCase();
    const selectors = [
      tagName,
      ...classes.flatMap((className) => [`.${className}`, `${tagName}.${className}`]),
      ...(elementId === undefined ? [] : [`#${elementId}`, `${tagName}#${elementId}`]),
    ];
    const matchingRules = selectors.flatMap(
      (selector) => this.#rulesBySelector.get(selector) ?? [],
    );
    if (matchingRules.length === 0) return ownStyle;
    const mergedStyle = new Map<string, string>();
    for (const ruleStyle of [...matchingRules, ownStyle])
      for (const [propertyName, propertyValue] of ruleStyle)
        mergedStyle.set(propertyName, propertyValue);
    return mergedStyle;
  }

  #parseDeclarations(declarations: string | undefined): Style {
    if (declarations === undefined) return noStyle;
    const parsedStyle = this.#parsedStyles.get(declarations) ?? parseStyle(declarations);
    this.#parsedStyles.set(declarations, parsedStyle);
    return parsedStyle;
  }
}

function parseStyle(styleText: string): Style {
  const declarations = styleText.slice(0, 2000).toLowerCase().split(";");
  return new Map(
    declarations.map((declaration) => {
      const [propertyName = "", propertyValue = ""] = declaration.split(":", 2);
      return [propertyName.trim(), propertyValue.replace("!important", "").trim()];
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
export function hidesElement(elementStyle: Style): boolean {
  if (elementStyle.size === 0) return false;
  if (
    hiddenValues.some(([propertyName, hiddenValue]) =>
      hiddenValue.test(elementStyle.get(propertyName) ?? ""),
    )
  )
    return true;
  if (isFaint(elementStyle.get("opacity"))) return true;
  if (isDotSize(elementStyle.get("max-height")) || isDotSize(elementStyle.get("max-width")))
    return true;
  if (
    ["left", "top", "text-indent", "margin-left", "margin-top"].some((propertyName) =>
      isFarOff(elementStyle.get(propertyName)),
    )
  )
    return true;
  const isClipped = elementStyle.get("overflow") === "hidden";
  return (
    isClipped && (isDotSize(elementStyle.get("height")) || isDotSize(elementStyle.get("width")))
  );
}

/** Returns whether an opacity leaves too little to read. */
function isFaint(opacity: string | undefined): boolean {
  return opacity !== undefined && /^(?:0|0?\.0[0-5]?\d{0,10}|[0-5](?:\.\d{1,10})?%)$/.test(opacity);
}

function isFarOff(cssLength: string | undefined): boolean {
  return (
    cssLength !== undefined &&
    /^-(?:[5-9]\d\d|\d{4,9})(?:\.\d{1,10})?(?:px|pt|em|rem|%)?$/.test(cssLength)
  );
}

/** Returns whether a size is zero. */
export function isZeroSize(cssSize: string | undefined): boolean {
  return (
    cssSize !== undefined && /^0(?:\.0{1,10})?(?:px|pt|em|rem|ex|ch|%|vh|vw)?$/.test(cssSize.trim())
  );
}

/** Returns whether a size is at most one pixel. */
export function isDotSize(cssSize: string | undefined): boolean {
  return (
    isZeroSize(cssSize) ||
    (cssSize !== undefined && /^(?:1|0?\.\d{1,10})(?:px|pt)?$/.test(cssSize.trim()))
  );
}

const namedColours: Readonly<Record<string, string>> = { white: "255,255,255", black: "0,0,0" };

/** Returns a colour as `red,green,blue`; undefined if it is not known, `transparent` if it has none. */
export function parseColour(colourText = ""): string | undefined {
  const colourName = colourText.trim();
  const [, alphaValue] =
    /^rgba\([^)]{1,40}[,/]\s{0,5}([\d.%]{1,12})\s{0,5}\)$/.exec(colourName) ?? [];
  if (colourName === "transparent" || isFaint(alphaValue)) return "transparent";
  const [, shortHex, longHex, numbers] =
    /^(?:#([\da-f]{3})|#([\da-f]{6})|rgb\(\s{0,5}(\d{1,3}\s{0,5},\s{0,5}\d{1,3}\s{0,5},\s{0,5}\d{1,3})\s{0,5}\))$/.exec(
      colourName,
    ) ?? [];
  const hexDigits = longHex ?? shortHex?.replace(/./g, "$&$&");
  if (hexDigits !== undefined)
    return [0, 2, 4]
      .map((digitIndex) => Number.parseInt(hexDigits.slice(digitIndex, digitIndex + 2), 16))
      .join(",");
  return (
    numbers?.replace(/\s/g, "") ??
    (Object.hasOwn(namedColours, colourName) ? namedColours[colourName] : undefined)
  );
}

/** The difference of red, green or blue that a reader may see, of 255; chosen, not measured. */
const SEEN_DIFFERENCE = 16;

/** Returns whether a text of a colour is lost on its background; not if one of them is not known. */
export function isSameColour(textColour: string, background = ""): boolean {
  const [textParts, backgroundParts] = [textColour, background].map((colourText) =>
    colourText.split(",").map(Number),
  );
  return (
    textParts?.length === backgroundParts?.length &&
    textParts?.every(
      (colourPart, partIndex) =>
        Math.abs(colourPart - (backgroundParts?.[partIndex] ?? NaN)) <= SEEN_DIFFERENCE,
    ) === true
  );
}

/** Returns the size of a style's text: `font-size`, or the one in `font`. */
export function fontSize(elementStyle: Style): string | undefined {
  const fontMatch = /(?:^|\s)(0|\d{0,5}\.?\d{1,5}(?:px|pt|em|rem|%))(?=[/\s])/.exec(
    elementStyle.get("font") ?? "",
  );
  return elementStyle.get("font-size") ?? fontMatch?.[1];
}
