import type { TargetName } from "./calls/targets.ts";
import type { SectionResult } from "./report/section.ts";
import type { Scale } from "./scale.ts";
import type { BenchmarkServer } from "./server/start-server.ts";

/** What a part of the benchmark runs with. */
export interface SectionContext {
  readonly scale: Scale;
  readonly server: BenchmarkServer;
  /** The folder of the built client. */
  readonly clientFolder: string;
  /** The folder of another build to compare with, or null. */
  readonly otherClientFolder: string | null;
  /** The targets of the parts that measure calls. */
  readonly targets: readonly TargetName[];
  /** Where asking processes leave CPU profiles, or null. */
  readonly profileFolder: string | null;
  /** Says what is going on. */
  readonly tell: (line: string) => void;
}

/** A part of the benchmark. */
export type Section = (context: SectionContext) => Promise<SectionResult>;
