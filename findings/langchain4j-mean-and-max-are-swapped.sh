#!/usr/bin/env bash
# Guess: a classifier by examples that is told to look at the best example only takes the label with the nearest example.
# What happens: LangChain4j's `EmbeddingModelTextClassifier` documents `meanToMaxScoreRatio` as "0 means that only the mean
# score will be used" and "1 means that only the max score will be used". The code multiplies the mean by the ratio and the
# maximum by one minus it, so 1 is the mean alone and 0 the maximum alone, and whoever moves the number from 0.5 to have more of one gets
# more of the other. Below, a refund is like one example of its label and unlike the two others (a label of many meanings).
# The same setting decides what `minScore` is compared with. The default, 0.5, is the only value that hides it.
# Source: Maven dev.langchain4j:langchain4j 1.19.0 (classification, aggregatedScore), the newest that resolves; seen 2026-12-01.
# Output seen:
#   0.0, documented as the mean only    REFUND 1.00, OTHER 0.88
#   0.5, both                           OTHER 0.88, REFUND 0.83
#   1.0, documented as the max only     OTHER 0.88, REFUND 0.67
set -euo pipefail
cd "$(mktemp -d)"
cat > pom.xml <<'XML'
<project>
  <modelVersion>4.0.0</modelVersion><groupId>run</groupId><artifactId>run</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>dev.langchain4j</groupId><artifactId>langchain4j</artifactId><version>1.19.0</version></dependency>
  </dependencies>
</project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars > log
cat > Run.java <<'JAVA'
import dev.langchain4j.classification.EmbeddingModelTextClassifier;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import java.util.*;

/** Its embeddings are directions: a text is its angle in degrees, and the text to classify has the angle 0. */
class Run implements EmbeddingModel {
    public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
        return Response.from(segments.stream().map(segment -> {
            double angle = Math.toRadians(Double.parseDouble(segment.text()));
            return Embedding.from(new float[] {(float) Math.cos(angle), (float) Math.sin(angle)});
        }).toList());
    }

    enum Label { REFUND, OTHER }

    static String classify(double ratio, String name) {
        var examples = Map.of(Label.REFUND, List.of("5", "90", "-90"), Label.OTHER, List.of("40", "40", "-40"));
        var classifier = new EmbeddingModelTextClassifier<>(new Run(), examples, 2, 0, ratio);
        var labels = classifier.classifyWithScores("0").scoredLabels();
        var shown = labels.stream().map(label -> String.format(Locale.ROOT, "%s %.2f", label.label(), label.score())).toList();
        System.out.printf(Locale.ROOT, "%.1f, %-30s %s%n", ratio, name, String.join(", ", shown));
        return labels.get(0).label() + "";
    }

    public static void main(String[] words) {
        var seen = classify(0, "documented as the mean only") + classify(0.5, "both") + classify(1, "documented as the max only");
        System.exit(seen.equals("REFUNDOTHEROTHER") ? 0 : 1);
    }
}
JAVA
java -cp 'jars/*' Run.java
