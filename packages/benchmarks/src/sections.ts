import { batchSection } from "./batch/batch-section.ts";
import { calibrateSection } from "./calibrate-section.ts";
import { callsSection } from "./calls/calls-section.ts";
import { growthSection } from "./growth-section.ts";
import { importsSection } from "./imports/imports-section.ts";
import { postgresSection } from "./postgres/postgres-section.ts";
import { routerSection } from "./router/router-section.ts";
import { streamSection } from "./stream/stream-section.ts";
import { mboxSection } from "./triage/mbox-section.ts";
import { resumeSection } from "./triage/resume-section.ts";
import { triageSection } from "./triage/triage-section.ts";
import type { Section } from "./section.ts";

/** Every part of the benchmark, in the order it is run. */
export const sections = {
  calls: callsSection,
  growth: growthSection,
  batch: batchSection,
  imports: importsSection,
  router: routerSection,
  stream: streamSection,
  triage: triageSection,
  resume: resumeSection,
  mbox: mboxSection,
  postgres: postgresSection,
  calibrate: calibrateSection,
} as const satisfies Record<string, Section>;

/** The name of a part. */
export type SectionName = keyof typeof sections;

/** All names, in order. */
export const sectionNames = Object.keys(sections) as readonly SectionName[];
