import type { Section } from "./section.ts";

// Each is loaded when it is run: with all of them, `--help` starts in five times the work.

/** Every part of the benchmark, in the order it is run. */
export const sections = {
  calls: async (context) => (await import("./calls/calls-section.ts")).callsSection(context),
  growth: async (context) => (await import("./growth-section.ts")).growthSection(context),
  batch: async (context) => (await import("./batch/batch-section.ts")).batchSection(context),
  imports: async (context) =>
    (await import("./imports/imports-section.ts")).importsSection(context),
  router: async (context) => (await import("./router/router-section.ts")).routerSection(context),
  stream: async (context) => (await import("./stream/stream-section.ts")).streamSection(context),
  triage: async (context) => (await import("./triage/triage-section.ts")).triageSection(context),
  resume: async (context) => (await import("./triage/resume-section.ts")).resumeSection(context),
  mbox: async (context) => (await import("./triage/mbox-section.ts")).mboxSection(context),
  postgres: async (context) =>
    (await import("./postgres/postgres-section.ts")).postgresSection(context),
  calibrate: async (context) => (await import("./calibrate-section.ts")).calibrateSection(context),
} as const satisfies Record<string, Section>;

/** The name of a part. */
export type SectionName = keyof typeof sections;

/** All names, in order. */
export const sectionNames = Object.keys(sections) as readonly SectionName[];
