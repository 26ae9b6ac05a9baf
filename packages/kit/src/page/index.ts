export * from "./html.ts";
export * from "./page.ts";
export * from "./plot.ts";
