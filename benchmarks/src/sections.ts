import type { Section } from "./section.ts";

// Each is loaded when it is run: with all of them, `--help` starts in five times the work.

/** Every part of the benchmark, in the order it is run. */
export const sections = {
  calls: async (context) => (await import("./calls/calls-section.ts")).callsSection(context),
  router: async (context) => (await import("./router/router-section.ts")).routerSection(context),
  stream: async (context) => (await import("./stream/stream-section.ts")).streamSection(context),
  triage: async (context) => (await import("./triage/triage-section.ts")).triageSection(context),
} as const satisfies Record<string, Section>;

/** The name of a part. */
export type SectionName = keyof typeof sections;

/** All names, in order. */
export const sectionNames = Object.keys(sections) as readonly SectionName[];
