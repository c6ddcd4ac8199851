/* Classical machine learning (see opinfo_table.h) */
/* clang-format off */

OP(ArrayFeatureExtractor, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), array_feature_extractor,
   NO_ATTRS)
OP(Binarizer, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), same, ATTRS(A(FLOAT, threshold)))
OP(CastMap, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, cast_map,
   ATTRS(A(STRING, cast_to), A(STRING, map_form), A(INT, max_map)))
OP(CategoryMapper, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, category_mapper,
   ATTRS(A(INTS, cats_int64s), A(STRINGS, cats_strings), A(INT, default_int64),
         A(STRING, default_string)))
OP(DictVectorizer, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, dict_vectorizer,
   ATTRS(A(INTS, int64_vocabulary), A(STRINGS, string_vocabulary)))
OP(FeatureVectorizer, SINCE(1), IN(1, ANY), OUT(1, 1), NO_DATA, FIXED(FLOAT), feature_vectorizer,
   ATTRS(A(INTS, inputdimensions)))
OP(Imputer, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), same,
   ATTRS(A(FLOATS, imputed_value_floats), A(INTS, imputed_value_int64s),
         A(FLOAT, replaced_value_float), A(INT, replaced_value_int64)))
OP(LabelEncoder, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, label_encoder,
   ATTRS(A_UNTIL(STRINGS, classes_strings, 1), A_FROM(FLOAT, default_float, 2),
         A(INT, default_int64), A(STRING, default_string), A_FROM(TENSOR, default_tensor, 4),
         A_FROM(FLOATS, keys_floats, 2), A_FROM(INTS, keys_int64s, 2),
         A_FROM(STRINGS, keys_strings, 2), A_FROM(TENSOR, keys_tensor, 4),
         A_FROM(FLOATS, values_floats, 2), A_FROM(INTS, values_int64s, 2),
         A_FROM(STRINGS, values_strings, 2), A_FROM(TENSOR, values_tensor, 4)))
OP(LinearClassifier, SINCE(1), IN(1, 1), OUT(2, 2), NO_DATA, SPECIAL, ml_classifier,
   ATTRS(A(INTS, classlabels_ints), A(STRINGS, classlabels_strings), NEED(FLOATS, coefficients),
         A(FLOATS, intercepts), A(INT, multi_class), A(STRING, post_transform)))
OP(LinearRegressor, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(FLOAT), ml_regressor,
   ATTRS(A(FLOATS, coefficients), A(FLOATS, intercepts), A(STRING, post_transform),
         A(INT, targets)))
OP(Normalizer, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(FLOAT), same, ATTRS(A(STRING, norm)))
OP(OneHotEncoder, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(FLOAT), one_hot_encoder,
   ATTRS(A(INTS, cats_int64s), A(STRINGS, cats_strings), A(INT, zeros)))
OP(SVMClassifier, SINCE(1), IN(1, 1), OUT(2, 2), NO_DATA, SPECIAL, ml_classifier,
   ATTRS(A(INTS, classlabels_ints), A(STRINGS, classlabels_strings), A(FLOATS, coefficients),
         A(FLOATS, kernel_params), A(STRING, kernel_type), A(STRING, post_transform),
         A(FLOATS, prob_a), A(FLOATS, prob_b), A(FLOATS, rho), A(FLOATS, support_vectors),
         A(INTS, vectors_per_class)))
OP(SVMRegressor, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(FLOAT), ml_regressor,
   ATTRS(A(FLOATS, coefficients), A(FLOATS, kernel_params), A(STRING, kernel_type),
         A(INT, n_supports), A(INT, one_class), A(STRING, post_transform), A(FLOATS, rho),
         A(FLOATS, support_vectors)))
OP(Scaler, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(FLOAT), same,
   ATTRS(A(FLOATS, offset), A(FLOATS, scale)))
OP(TreeEnsemble, SINCE(5), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), ml_regressor,
   ATTRS(A(INT, aggregate_function), NEED(INTS, leaf_targetids), NEED(TENSOR, leaf_weights),
         A(TENSOR, membership_values), A(INT, n_targets), NEED(INTS, nodes_falseleafs),
         NEED(INTS, nodes_falsenodeids), NEED(INTS, nodes_featureids), A(TENSOR, nodes_hitrates),
         A(INTS, nodes_missing_value_tracks_true), NEED(TENSOR, nodes_modes),
         NEED(TENSOR, nodes_splits), NEED(INTS, nodes_trueleafs), NEED(INTS, nodes_truenodeids),
         A(INT, post_transform), NEED(INTS, tree_roots)))
OP(TreeEnsembleClassifier, BETWEEN(1, 4), IN(1, 1), OUT(2, 2), NO_DATA, SPECIAL, ml_classifier,
   ATTRS(A(FLOATS, base_values), A_FROM(TENSOR, base_values_as_tensor, 3), A(INTS, class_ids),
         A(INTS, class_nodeids), A(INTS, class_treeids), A(FLOATS, class_weights),
         A_FROM(TENSOR, class_weights_as_tensor, 3), A(INTS, classlabels_int64s),
         A(STRINGS, classlabels_strings), A(INTS, nodes_falsenodeids), A(INTS, nodes_featureids),
         A(FLOATS, nodes_hitrates), A_FROM(TENSOR, nodes_hitrates_as_tensor, 3),
         A(INTS, nodes_missing_value_tracks_true), A(STRINGS, nodes_modes), A(INTS, nodes_nodeids),
         A(INTS, nodes_treeids), A(INTS, nodes_truenodeids), A(FLOATS, nodes_values),
         A_FROM(TENSOR, nodes_values_as_tensor, 3), A(STRING, post_transform)))
OP(TreeEnsembleRegressor, BETWEEN(1, 4), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(FLOAT), ml_regressor,
   ATTRS(A(STRING, aggregate_function), A(FLOATS, base_values),
         A_FROM(TENSOR, base_values_as_tensor, 3), A(INT, n_targets), A(INTS, nodes_falsenodeids),
         A(INTS, nodes_featureids), A(FLOATS, nodes_hitrates),
         A_FROM(TENSOR, nodes_hitrates_as_tensor, 3), A(INTS, nodes_missing_value_tracks_true),
         A(STRINGS, nodes_modes), A(INTS, nodes_nodeids), A(INTS, nodes_treeids),
         A(INTS, nodes_truenodeids), A(FLOATS, nodes_values),
         A_FROM(TENSOR, nodes_values_as_tensor, 3), A(STRING, post_transform), A(INTS, target_ids),
         A(INTS, target_nodeids), A(INTS, target_treeids), A(FLOATS, target_weights),
         A_FROM(TENSOR, target_weights_as_tensor, 3)))
OP(ZipMap, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, zip_map,
   ATTRS(A(INTS, classlabels_int64s), A(STRINGS, classlabels_strings)))
