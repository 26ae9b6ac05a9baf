// Its own types name another Command than the typed one.
declare module "@bomb.sh/tab/commander" {
  export default function tab(program: unknown): void;
}
