export type { TriageContext as Surroundings } from "./service.ts";
