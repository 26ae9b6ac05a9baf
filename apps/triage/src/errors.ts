export { CliError as TriageError, UsageError } from "evaluator-cli-kit";
