/** Returns the element of the page with this id. */
export function byId(elementId: string): HTMLElement {
  const element = document.getElementById(elementId);
  if (element === null) throw new Error(`The page has no #${elementId}.`);
  return element;
}

/** Returns the part of an element that a selector names. */
export function toPart(element: ParentNode, selector: string): HTMLElement {
  const foundPart = element.querySelector<HTMLElement>(selector);
  if (foundPart === null) throw new Error(`The element has no ${selector}.`);
  return foundPart;
}

/** Returns a new copy of the one element in a template. */
export function toCopy(templateId: string): HTMLElement {
  const { content } = byId(templateId) as HTMLTemplateElement;
  return toPart(content, "*").cloneNode(true) as HTMLElement;
}

/** Returns a fact with its name, for a list of facts. */
export function toFact([factName, factValue]: readonly [name: string, value: string]): HTMLElement {
  const factElement = toCopy("fact");
  toPart(factElement, "dt").textContent = factName;
  toPart(factElement, "dd").textContent = factValue;
  return factElement;
}

/** Shows a part that was hidden, and returns it. */
export function reveal(element: ParentNode, selector: string): HTMLElement {
  const hiddenPart = toPart(element, selector);
  hiddenPart.hidden = false;
  return hiddenPart;
}

/** Announces a text to screen readers. */
export function announce(statusText: string): void {
  byId("status").textContent = statusText;
}

/** Copies a text on a click, and confirms it on the button for a moment. */
export function copyOnClick(button: HTMLElement, textToCopy: () => string): void {
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(textToCopy()).then(
      () => announceCopy(button, "copied"),
      () => announceCopy(button, "failed"),
    );
  });
}

function announceCopy(button: HTMLElement, state: "copied" | "failed"): void {
  button.dataset["state"] = state;
  announce(state === "copied" ? "Copied" : "The browser refused to copy");
  setTimeout(() => delete button.dataset["state"], 2000);
}

/** Returns a share in percent: a printed 1 is at least 0.995, a 0 below 0.005 (contract 2.4). */
export function percent(probability: number): string {
  if (probability >= 0.995) return "> 99 %";
  if (probability < 0.005) return "< 1 %";
  return `${Math.round(probability * 100)} %`;
}

/** Returns milliseconds for people. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

const inUsd = { style: "currency", currency: "USD" } as const;
const dollars = new Intl.NumberFormat("en", { ...inUsd, maximumSignificantDigits: 2 });
const restInDollars = new Intl.NumberFormat("en", {
  ...inUsd,
  maximumSignificantDigits: 3,
  roundingMode: "floor",
});

/** Returns the rest of a budget in US dollars, rounded down, since that much must be left. */
export function usdLeft(remainingUsd: number): string {
  return restInDollars.format(remainingUsd);
}

/** Returns a price in US dollars, also a small or unknown one. */
export function usd(price: number | null): string {
  return price === null ? "unknown" : dollars.format(price);
}

/** Returns a function that prints sums in US dollars, as precisely as their difference is printed. */
export function usdBeside(difference: number): (sumUsd: number) => string {
  const decimals = difference === 0 ? 0 : 1 - Math.floor(Math.log10(Math.abs(difference)));
  const usdFormat = new Intl.NumberFormat("en", {
    ...inUsd,
    minimumFractionDigits: 0,
    maximumFractionDigits: Math.min(Math.max(decimals, 0), 20),
    maximumSignificantDigits: 2,
    roundingPriority: "morePrecision",
  });
  return (sumUsd) => usdFormat.format(sumUsd);
}

/** Returns a number of tokens, or a question mark if unknown. */
export function tokens(count: number | null): string {
  return count === null ? "?" : count.toLocaleString("en");
}
