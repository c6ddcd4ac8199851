/* Operators on trial (see opinfo_table.h) */
/* clang-format off */

OP(FlexAttention, SINCE(1), IN(3, 3), OUT(1, 1), DATA(FIRST | SECOND | THIRD), SAME(0), attention,
   ATTRS(A(GRAPH, prob_mod), A(FLOAT, scale), A(GRAPH, score_mod), A(INT, softmax_precision)))
