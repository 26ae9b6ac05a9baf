import { type Content, contentText } from "../questions/content.ts";
import {
  type BooleanInput,
  type ChoiceInput,
  type QuestionInput,
  questionText,
  type ScoreInput,
} from "../questions/question.ts";
import { findConcepts } from "./concepts.ts";
import { type Opinion, opinionFromScores } from "./shares.ts";
import { dropNegated, remember, stopWords, textWords } from "./words.ts";

// The same questions come with request after request.
const read = remember(readQuestion, {
  keyOf: (question) => `${question.type} ${questionText(question)}`,
  capacity: 1000,
});

/**
 * Judges questions about one state by the words they share, a stand-in for the real model.
 * Reads what the contract says the model sees (section 1.5) and nothing else.
 */
export function lexicalJudge(state: Content): (question: QuestionInput) => Opinion {
  const profile = profileState(contentText(state));
  return (question) => read(question)(profile);
}

function readQuestion(question: QuestionInput): (state: TextProfile) => Opinion {
  if (question.type === "choice") return judgeChoice(question);
  if (question.type === "score") return judgeScore(question);
  return judgeBoolean(question);
}

/** What the judge sees of a text. */
interface TextProfile {
  /** Stems of the words that carry meaning. */
  readonly words: ReadonlySet<string>;
  /** Concept name to the number of different phrases that show it. */
  readonly concepts: ReadonlyMap<string, number>;
}

/** The profile of a state. */
function profileState(text: string): TextProfile {
  return profile(textWords(text), "signs");
}

/**
 * Returns the profile of an option, a level or a question: what it asks for, without what it
 * denies.
 */
function profileCriterion(text: string): TextProfile {
  return profile(textWords(dropNegated(text)), "cues");
}

function profile(words: readonly string[], role: "cues" | "signs"): TextProfile {
  return {
    words: new Set(words.filter((word) => !stopWords.has(word))),
    concepts: findConcepts(words, role),
  };
}

/** Reads every option's name and description, to compare states with them. */
function judgeChoice({ criteria }: ChoiceInput): (state: TextProfile) => Opinion {
  const match = matchCriteria(
    Object.entries(criteria).map(([name, description]) =>
      profileCriterion(`${spaceOut(name)}, ${contentText(description)}`),
    ),
  );
  return (state) => opinionFromScores(match(state));
}

function spaceOut(name: string): string {
  return name.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/gu, " ");
}

// Chosen: enough for a mean between two levels. judge.test.ts holds at half and at twice.
const neighbourShare = 0.15;

/** Reads every level, to compare states with them; each level then shares with its neighbours. */
function judgeScore({ criteria }: ScoreInput): (state: TextProfile) => Opinion {
  const match = matchCriteria(criteria.map((level) => profileCriterion(contentText(level))));
  return (state) => {
    const opinion = opinionFromScores(match(state));
    return opinion.isInformed
      ? { ...opinion, probabilities: shareWithNeighbours(opinion.probabilities) }
      : opinion;
  };
}

function shareWithNeighbours(probabilities: readonly number[]): number[] {
  const last = probabilities.length - 1;
  const shared = probabilities.map(() => 0);
  for (const [index, probability] of probabilities.entries()) {
    // An end level keeps the share it has no neighbour for, so the sum stays 1.
    for (const neighbour of [Math.max(0, index - 1), Math.min(last, index + 1)]) {
      shared[neighbour] = (shared[neighbour] ?? 0) + neighbourShare * probability;
    }
    shared[index] = (shared[index] ?? 0) + (1 - 2 * neighbourShare) * probability;
  }
  return shared;
}

// Chosen, so that nobody takes a stand-in for a model that is sure.
const lowestYes = 0.2;
const highestYes = 0.8;
// Chosen: no sign of a concept comes to 0.25, one to 0.55, two to 0.72, and a shared word to less.
// With half the prior or half the weight of a concept a mail of judge.test.ts is misjudged, with
// twice none.
const priorLogit = -1.1;
const conceptLogit = 1.3;
const wordLogit = 0.5;

/**
 * Reads what the question asks about, to look for it in states.
 * A question about a concept the judge knows leans to no when the state shows none of it.
 */
function judgeBoolean(question: BooleanInput): (state: TextProfile) => Opinion {
  const instructions = contentText(question.instructions);
  const yes = profileCriterion(`${instructions}, ${contentText(question.criteria.true)}`);
  const no = profileCriterion(contentText(question.criteria.false));
  if (question.criteria.true !== null && question.criteria.false !== null) {
    const match = matchCriteria([yes, no]);
    return (state) => {
      const [forYes = 0, forNo = 0] = match(state);
      return cappedOpinion(forYes - forNo, forYes !== forNo);
    };
  }
  return (state) => {
    const evidence = evidenceFor(state, yes) - evidenceFor(state, no);
    const knowsConcept = yes.concepts.size > 0 && state.words.size > 0;
    const prior = knowsConcept ? priorLogit : 0;
    return cappedOpinion(prior + evidence, knowsConcept || evidence !== 0);
  };
}

function evidenceFor(state: TextProfile, criterion: TextProfile): number {
  const strengths = [...criterion.concepts.keys()].map((name) => conceptStrength(state, name));
  const sharedWords = [...criterion.words].filter((word) => state.words.has(word)).length;
  return conceptLogit * Math.max(0, ...strengths) + wordLogit * Math.log2(1 + sharedWords);
}

function cappedOpinion(logit: number, isInformed: boolean): Opinion {
  const yes = 1 / (1 + Math.exp(-logit));
  return {
    probabilities: [isInformed ? Math.min(highestYes, Math.max(lowestYes, yes)) : 0.5],
    isInformed,
  };
}

// Chosen: a concept counts about twice a word. judge.test.ts holds at half and twice each of them.
const wordWeight = 0.7;
const conceptWeight = 1.5;

/**
 * Weighs criteria against each other and gives a function that says how strongly a state speaks for
 * each of them; 0 where nothing does. A word or concept weighs more the fewer criteria hold it, and
 * nothing when all do.
 */
function matchCriteria(
  criteria: readonly TextProfile[],
): (state: TextProfile) => readonly number[] {
  const weightOfWord = weigh(criteria.map(({ words }) => words));
  const weightOfConcept = weigh(criteria.map(({ concepts }) => concepts));
  return (state) =>
    criteria.map(({ words, concepts }) => {
      let score = 0;
      for (const word of words) {
        if (state.words.has(word)) score += wordWeight * weightOfWord(word);
      }
      for (const name of concepts.keys()) {
        score += conceptWeight * weightOfConcept(name) * conceptStrength(state, name);
      }
      return score;
    });
}

/** Returns how clearly a state shows a concept: 0 for not at all, then growing ever more slowly. */
function conceptStrength(state: TextProfile, name: string): number {
  return Math.log2(1 + (state.concepts.get(name) ?? 0));
}

/** Returns how rare an item is among groups: 0 when all of them hold it. */
function weigh(groups: readonly { keys(): Iterable<string> }[]): (item: string) => number {
  const counts = new Map<string, number>();
  for (const group of groups) {
    for (const item of group.keys()) counts.set(item, (counts.get(item) ?? 0) + 1);
  }
  return (item) => Math.log(groups.length / (counts.get(item) ?? groups.length));
}
