#!/usr/bin/env bash
# Guess: two evaluators of one framework that ask a judge for yes or no, and return one type with a verdict and a score, give a
# "yes" the same score, so that the mean of the scores is the share of the answers that passed.
# What happens: Spring AI's RelevancyEvaluator scores a yes with 1, its FactCheckingEvaluator with 0: it calls the shorter of the
# two constructors of EvaluationResponse, which sets the score to 0 whatever the verdict is. A test that asserts `isPass()` is
# content; a dashboard of scores shows a system whose facts are all right as one that invents them all, next to its full
# relevancy. Nothing tells "no score" from the worst one: the score is a float, not an optional. A yes with a full stop after
# it, as judges write it, is a no in both, without a word.
# Source: Maven org.springframework.ai:spring-ai-client-chat 2.0.1 (chat/evaluation), spring-ai-commons 2.0.1; seen 2026-12-01.
# Output seen:
#   judge says "yes"    relevancy: pass true  score 1.0   facts: pass true  score 0.0
#   judge says "no"     relevancy: pass false score 0.0   facts: pass false score 0.0
#   judge says "Yes."   relevancy: pass false score 0.0   facts: pass false score 0.0
set -euo pipefail
cd "$(mktemp -d)"
cat > pom.xml <<'XML'
<project>
  <modelVersion>4.0.0</modelVersion><groupId>run</groupId><artifactId>run</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.springframework.ai</groupId><artifactId>spring-ai-client-chat</artifactId><version>2.0.1</version></dependency>
  </dependencies>
</project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars > log
cat > Run.java <<'JAVA'
import java.util.List;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.evaluation.*;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.*;
import org.springframework.ai.document.Document;
import org.springframework.ai.evaluation.*;

class Run {
    static String show(Evaluator evaluator) {
        var facts = List.of(new Document("The shop opens at nine."));
        var response = evaluator.evaluate(new EvaluationRequest("When does the shop open?", facts, "At nine."));
        return String.format("pass %-5s score %s", response.isPass(), response.getScore());
    }

    static String ask(String reply) {
        ChatModel judge = prompt -> new ChatResponse(List.of(new Generation(new AssistantMessage(reply))));
        var relevancy = show(new RelevancyEvaluator(ChatClient.builder(judge)));
        var facts = show(FactCheckingEvaluator.builder(ChatClient.builder(judge)).build());
        System.out.printf("judge says %-8s relevancy: %s   facts: %s%n", '"' + reply + '"', relevancy, facts);
        return relevancy + ", " + facts;
    }

    public static void main(String[] words) {
        var yes = ask("yes");
        var same = ask("no").equals(ask("Yes."));
        System.exit(same && yes.equals("pass true  score 1.0, pass true  score 0.0") ? 0 : 1);
    }
}
JAVA
java -cp 'jars/*' Run.java 2> errors || { cat errors; exit 1; }
