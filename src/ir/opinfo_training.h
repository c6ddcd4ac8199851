/* Training (see opinfo_table.h) */
/* clang-format off */

OP(Adagrad, SINCE(1), IN(3, ANY), OUT(1, ANY), NO_DATA, SPECIAL, optimizer,
   ATTRS(A(FLOAT, decay_factor), A(FLOAT, epsilon), A(FLOAT, norm_coefficient)))
OP(Adam, SINCE(1), IN(3, ANY), OUT(1, ANY), NO_DATA, SPECIAL, optimizer,
   ATTRS(A(FLOAT, alpha), A(FLOAT, beta), A(FLOAT, epsilon), A(FLOAT, norm_coefficient),
         A(FLOAT, norm_coefficient_post)))
OP(Gradient, SINCE(1), IN(1, ANY), OUT(1, ANY), NO_DATA, SPECIAL, gradient,
   ATTRS(NEED(STRINGS, xs), NEED(STRING, y), A(STRINGS, zs)))
OP(Momentum, SINCE(1), IN(3, ANY), OUT(1, ANY), NO_DATA, SPECIAL, optimizer,
   ATTRS(NEED(FLOAT, alpha), NEED(FLOAT, beta), NEED(STRING, mode), NEED(FLOAT, norm_coefficient)))
