// For `node --import`: this way the file of a program is cached too. A file with types that is not
// makes Node load its compiler, a tenth of a start.
import { enableCompileCache } from "node:module";

enableCompileCache();
