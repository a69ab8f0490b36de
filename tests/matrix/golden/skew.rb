The lower half of a skew matrix                                         skew    
             3             1             1             1
iza                          3             3             2             0
(4I3)           (6I2)           (8I4)               
  1  2  3  3
 2 3
   7  -5
